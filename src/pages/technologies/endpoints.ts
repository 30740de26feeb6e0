import { json, open } from "../../routing/endpoint.ts";
import type { UrlSafetyOptions } from "../../url-safety/index.ts";
import { BATCH_HEADERS, BATCH_STATUSES, OPERATION_HEADERS, OPERATION_STATUSES } from "../described.ts";
import { type Freshness, readFreshness } from "../freshness.ts";
import { MAX_BATCH_BYTES, oneTask, refuseBatch, startBatch, startJob, wantsJob } from "../jobs/start.ts";
import { jobSchema } from "../jobs/view.ts";
import {
  answerResponse,
  cacheKey,
  type KeptAnswer,
  keptOrMade,
  type MadeAnswer,
  type PageWork,
} from "../kept-answers.ts";
import { QueryParameters } from "../parameters.ts";
import { prettyAnswer } from "../pretty-answer.ts";
import { batchQuerySchema, technologiesBatchSchema, technologiesQuerySchema } from "../query-schemas.ts";
import { rateLimited } from "../rate-limit.ts";
import { technologiesSchema } from "./answers.ts";

/** `GET /v1/technologies/`: technologies of a page (contract, GET /v1/technologies/). */
export const technologies = open({
  method: "GET",
  path: "/v1/technologies",
  summary: "Technologies that a web page is built with",
  lenientQuery: technologiesQuerySchema,
  answers: json(technologiesSchema),
  accepted: json(jobSchema),
  headers: OPERATION_HEADERS,
  statuses: OPERATION_STATUSES,
  handler: rateLimited(async (context, call) => {
    const request = readTechnologiesRequest(call.query, context.platform.variables.pages);
    if (wantsJob(context)) return startJob(context, call, "technologies", [oneTask(call.query)]);
    const answer = await technologiesAnswer({ ...context, client: call.client }, request, call.admitted);
    return answerResponse(context, answer, request.freshness);
  }),
});

/** `POST /v1/technologies`: technologies of several pages, as a job (contract, jobs). */
export const technologiesBatch = open({
  method: "POST",
  path: "/v1/technologies",
  summary: "Technologies that several web pages are built with, as a job",
  body: technologiesBatchSchema,
  lenientQuery: batchQuerySchema,
  maxBody: MAX_BATCH_BYTES,
  answers: () => ({}),
  accepted: json(jobSchema),
  headers: BATCH_HEADERS,
  statuses: BATCH_STATUSES,
  unreadable: refuseBatch,
  handler: (context, { body }) =>
    startBatch(context, "technologies", body, (query) =>
      readTechnologiesRequest(query, context.platform.variables.pages),
    ),
});

/** A technology request. */
interface TechnologiesRequest {
  readonly page: URL;
  readonly prettify: boolean;
  readonly freshness: Freshness;
}

/** Parses the query (contract, GET /v1/technologies/). Throws a 400 that names the invalid parameter. */
export function readTechnologiesRequest(
  search: URLSearchParams,
  safety: UrlSafetyOptions,
): TechnologiesRequest {
  const query = new QueryParameters(search);
  const page = query.page(safety);
  const prettify = query.boolean("prettify", false);
  const freshness = readFreshness(query);
  query.refuseOthers();
  return { page, prettify, freshness };
}

/**
 * Returns the technologies of a page, from the cache or from a new load.
 *
 * @param admitted rejects if the rate limit or the authorization refuses the caller
 */
export async function technologiesAnswer(
  work: PageWork,
  { page, prettify, freshness }: TechnologiesRequest,
  admitted: Promise<void>,
): Promise<KeptAnswer> {
  const key = await cacheKey(work, "technologies", page.href);
  const answer = await keptOrMade(work, key, freshness, admitted, () => detected(work, page));
  return prettify ? prettyAnswer(answer) : answer;
}

/** The code that reads pages is large. Loading it on first use makes other isolates start faster. */
async function detected(work: PageWork, page: URL): Promise<MadeAnswer> {
  const { detect } = await import("./detect.ts");
  return detect(work, page);
}
