import type { LoadMoment } from "../../core/ports/page-browser.ts";
import { jsonResponse, openEndpoint } from "../../core/routing/endpoint.ts";
import type { UrlSafetyOptions } from "../../core/url-safety/index.ts";
import {
  createCacheKey,
  createResponse,
  getOrCreate,
  type NewAnswer,
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
import type { PageToLoad } from "./load-page.ts";
import { technologiesBatchSchema, technologiesQuerySchema } from "./query-schemas.ts";
import { technologiesSchema } from "./result-schema.ts";

/** `GET /v1/technologies/`: technologies of a page (contract, GET /v1/technologies/). */
export const technologies = openEndpoint({
  method: "GET",
  path: "/v1/technologies",
  summary: "Technologies that a web page is built with",
  lenientQuery: technologiesQuerySchema,
  answers: jsonResponse(technologiesSchema),
  accepted: jsonResponse(jobSchema),
  headers: OPERATION_HEADERS,
  statuses: OPERATION_STATUSES,
  handler: withRateLimit(async (context, call) => {
    const request = readTechnologiesRequest(call.query, context.platform.variables.pages);
    if (wantsJob(context)) return startJob(context, call, "technologies", [createSingleTask(call.query)]);
    const answer = await getTechnologiesAnswer({ ...context, client: call.client }, request, call.admitted);
    return createResponse(context, answer, request.freshness);
  }),
});

/** `POST /v1/technologies`: technologies of several pages, as a job (contract, jobs). */
export const technologiesBatch = openEndpoint({
  method: "POST",
  path: "/v1/technologies",
  summary: "Technologies that several web pages are built with, as a job",
  body: technologiesBatchSchema,
  lenientQuery: batchQuerySchema,
  maxBody: MAX_BATCH_BYTES,
  answers: () => ({}),
  accepted: jsonResponse(jobSchema),
  headers: BATCH_HEADERS,
  statuses: BATCH_STATUSES,
  onInvalidInput: rejectBatch,
  handler: (context, { body }) =>
    startBatch(context, "technologies", body, (query) =>
      readTechnologiesRequest(query, context.platform.variables.pages),
    ),
});

/** A technology request. */
interface TechnologiesRequest {
  readonly page: URL;
  readonly moment: LoadMoment;
  readonly prettify: boolean;
  readonly freshness: Freshness;
}

/** Parses the query (contract, GET /v1/technologies/). Throws a 400 that names the invalid parameter. */
export function readTechnologiesRequest(
  search: URLSearchParams,
  safety: UrlSafetyOptions,
): TechnologiesRequest {
  const query = new QueryParameters(search);
  const page = query.pageUrl(safety);
  const moment = readMoment(query);
  const prettify = query.boolean("prettify", false);
  const freshness = readFreshness(query);
  query.rejectUnknown();
  return { page, moment, prettify, freshness };
}

/**
 * Returns the technologies of a page, from the cache or from a new load.
 *
 * @param admitted rejects if the rate limit or the authorization refuses the caller
 */
export async function getTechnologiesAnswer(
  work: PageWork,
  { page, moment, prettify, freshness }: TechnologiesRequest,
  admitted: Promise<void>,
): Promise<ServableAnswer> {
  const key = await createCacheKey(work, "technologies", [page.href, moment]);
  const answer = await getOrCreate(work, key, freshness, admitted, () =>
    loadAndDetect(work, { page, moment }),
  );
  return prettify ? withPrettyJson(answer) : answer;
}

/** The code that reads pages is large. Loading it on first use makes other isolates start faster. */
async function loadAndDetect(work: PageWork, target: PageToLoad): Promise<NewAnswer> {
  const { detectTechnologies } = await import("./detect-technologies.ts");
  return detectTechnologies(work, target);
}
