import { formatSeriesName, HistogramSeries } from "./counts.ts";
import {
  GENERATIONS,
  HTTP_REQUESTS,
  REQUEST_DURATION,
  RETRIES,
  TIME_TO_FIRST_TOKEN,
  TOKEN_USAGE,
} from "./metric-names.ts";

/** Limit of cached series names of HTTP requests, and of kinds of generations; the names of one kind take about 10 KB. */
const MAX_CACHED = 200;

/** The labels of a generation. */
export interface CountedGeneration {
  readonly dialect: string;
  readonly provider: string;
  readonly model: string;
  readonly status: number;
  /** Absent on success. A stream that fails has already sent status 200; only the error shows how it ended. */
  readonly error: string | undefined;
}

/** The series for generations with the same labels. */
export interface GenerationSeries {
  readonly generations: string;
  readonly retries: string;
  readonly duration: HistogramSeries;
  readonly firstToken: HistogramSeries;
  readonly input: HistogramSeries;
  readonly output: HistogramSeries;
}

const httpSeriesCache = new Map<string, string>();
const generationSeriesCache = new Map<string, GenerationSeries>();

/** Adds to a cache, which is cleared when it is full. */
function addToCache<T>(cache: Map<string, T>, key: string, value: T): T {
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(key, value);
  return value;
}

/** The series that counts requests to a route. */
export function getHttpSeries(route: string, method: string, status: number): string {
  const key = `${status} ${method} ${route}`;
  return (
    httpSeriesCache.get(key) ??
    addToCache(
      httpSeriesCache,
      key,
      formatSeriesName(HTTP_REQUESTS, { route, method, status: String(status) }),
    )
  );
}

/** Returns the cached series for these labels. */
export function getGenerationSeries(counted: CountedGeneration): GenerationSeries {
  const { dialect, provider, model, status, error } = counted;
  const key = `${status}\0${error === undefined ? "" : `${error}\0`}\0${dialect}\0${provider}\0${model}`;
  return (
    generationSeriesCache.get(key) ?? addToCache(generationSeriesCache, key, createGenerationSeries(counted))
  );
}

function createGenerationSeries({
  dialect,
  provider,
  model,
  status,
  error,
}: CountedGeneration): GenerationSeries {
  const labels = {
    gen_ai_operation_name: "chat",
    gen_ai_provider_name: provider,
    gen_ai_request_model: model,
  };
  return {
    generations: formatSeriesName(GENERATIONS, {
      dialect,
      model,
      status: String(status),
      error: error ?? "",
    }),
    retries: formatSeriesName(RETRIES, { model }),
    duration: new HistogramSeries(
      REQUEST_DURATION,
      error === undefined ? labels : { ...labels, error_type: error },
    ),
    firstToken: new HistogramSeries(TIME_TO_FIRST_TOKEN, labels),
    input: new HistogramSeries(TOKEN_USAGE, { ...labels, gen_ai_token_type: "input" }),
    output: new HistogramSeries(TOKEN_USAGE, { ...labels, gen_ai_token_type: "output" }),
  };
}
