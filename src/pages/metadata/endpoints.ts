import type { LoadMoment } from "../../core/ports/page-browser.ts";
import { jsonResponse, openEndpoint } from "../../core/routing/endpoint.ts";
import type { UrlSafetyOptions } from "../../core/url-safety/index.ts";
import {
  createCacheKey,
  createResponse,
  getOrCreate,
  type PageWork,
  type ServableAnswer,
} from "../cache/answer-cache.ts";
import { withPrettyJson } from "../cache/pretty-json.ts";
import { type Freshness, readFreshness } from "../http/freshness.ts";
import { readMoment } from "../http/moment-parameters.ts";
import {
  BATCH_HEADERS,
  BATCH_STATUSES,
  OPERATION_HEADERS,
  OPERATION_STATUSES,
} from "../http/openapi-descriptions.ts";
import { QueryParameters } from "../http/query-parameters.ts";
import { batchQuerySchema } from "../http/query-schemas.ts";
import { jobSchema } from "../jobs/job-response.ts";
import {
  createSingleTask,
  MAX_BATCH_BYTES,
  rejectBatch,
  startBatch,
  startJob,
  wantsJob,
} from "../jobs/start-job.ts";
import { withRateLimit } from "../limits/rate-limit.ts";
import { metadataBatchSchema, metadataQuerySchema } from "./query-schemas.ts";
import { metadataSchema } from "./result.ts";

/** `GET /v1/metadata/`: metadata of a page (contract, GET /v1/metadata/). */
export const metadata = openEndpoint({
  method: "GET",
  path: "/v1/metadata",
  summary: "Title, description, icons and feeds of a web page",
  lenientQuery: metadataQuerySchema,
  answers: jsonResponse(metadataSchema),
  accepted: jsonResponse(jobSchema),
  headers: OPERATION_HEADERS,
  statuses: OPERATION_STATUSES,
  handler: withRateLimit(async (context, call) => {
    const request = readMetadataRequest(call.query, context.platform.variables.pages);
    if (wantsJob(context)) return startJob(context, call, "metadata", [createSingleTask(call.query)]);
    const answer = await getMetadataAnswer({ ...context, client: call.client }, request, call.admitted);
    return createResponse(context, answer, request.freshness);
  }),
});

/** `POST /v1/metadata`: metadata of several pages, as a job (contract, jobs). */
export const metadataBatch = openEndpoint({
  method: "POST",
  path: "/v1/metadata",
  summary: "Titles, descriptions, icons and feeds of several web pages, as a job",
  body: metadataBatchSchema,
  lenientQuery: batchQuerySchema,
  maxBody: MAX_BATCH_BYTES,
  answers: () => ({}),
  accepted: jsonResponse(jobSchema),
  headers: BATCH_HEADERS,
  statuses: BATCH_STATUSES,
  onInvalidInput: rejectBatch,
  handler: (context, { body }) =>
    startBatch(context, "metadata", body, (query) =>
      readMetadataRequest(query, context.platform.variables.pages),
    ),
});

/** A metadata request. */
interface MetadataRequest {
  readonly page: URL;
  /** Whether to detect the page's technologies too. */
  readonly technologies: boolean;
  readonly moment: LoadMoment;
  readonly prettify: boolean;
  readonly freshness: Freshness;
}

/** Parses the query (contract, GET /v1/metadata/). Throws a 400 that names the invalid parameter. */
export function readMetadataRequest(search: URLSearchParams, safety: UrlSafetyOptions): MetadataRequest {
  const query = new QueryParameters(search);
  const page = query.pageUrl(safety);
  const technologies = query.boolean("technologies", false);
  const moment = readMoment(query);
  const prettify = query.boolean("prettify", false);
  const freshness = readFreshness(query);
  query.rejectUnknown();
  return { page, technologies, moment, prettify, freshness };
}

/**
 * Returns the metadata of a page, from the cache or from a new load.
 *
 * @param admitted rejects if the rate limit or the authorization refuses the caller
 */
export async function getMetadataAnswer(
  work: PageWork,
  { page, technologies, moment, prettify, freshness }: MetadataRequest,
  admitted: Promise<void>,
): Promise<ServableAnswer> {
  const key = await createCacheKey(work, "metadata", [page.href, technologies, moment]);
  const make = async () => {
    // The code that reads pages is large. Loading it on first use makes other isolates start faster.
    const { loadMetadata } = await import("./load-metadata.ts");
    return loadMetadata(work, { page, moment }, technologies);
  };
  const answer = await getOrCreate(work, key, freshness, admitted, make);
  return prettify ? withPrettyJson(answer) : answer;
}
