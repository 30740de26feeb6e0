import { json, open } from "../../routing/endpoint.ts";
import type { UrlSafetyOptions } from "../../url-safety/index.ts";
import { BATCH_HEADERS, BATCH_STATUSES, OPERATION_HEADERS, OPERATION_STATUSES } from "../described.ts";
import { type Freshness, readFreshness } from "../freshness.ts";
import { MAX_BATCH_BYTES, oneTask, refuseBatch, startBatch, startJob, wantsJob } from "../jobs/start.ts";
import { jobSchema } from "../jobs/view.ts";
import { answerResponse, cacheKey, type KeptAnswer, keptOrMade, type PageWork } from "../kept-answers.ts";
import { QueryParameters } from "../parameters.ts";
import { prettyAnswer } from "../pretty-answer.ts";
import { batchQuerySchema, metadataBatchSchema, metadataQuerySchema } from "../query-schemas.ts";
import { rateLimited } from "../rate-limit.ts";
import { metadataSchema } from "./result.ts";

/** `GET /v1/metadata/`: metadata of a page (contract, GET /v1/metadata/). */
export const metadata = open({
  method: "GET",
  path: "/v1/metadata",
  summary: "Title, description, icons and feeds of a web page",
  lenientQuery: metadataQuerySchema,
  answers: json(metadataSchema),
  accepted: json(jobSchema),
  headers: OPERATION_HEADERS,
  statuses: OPERATION_STATUSES,
  handler: rateLimited(async (context, call) => {
    const request = readMetadataRequest(call.query, context.platform.variables.pages);
    if (wantsJob(context)) return startJob(context, call, "metadata", [oneTask(call.query)]);
    const answer = await metadataAnswer({ ...context, client: call.client }, request, call.admitted);
    return answerResponse(context, answer, request.freshness);
  }),
});

/** `POST /v1/metadata`: metadata of several pages, as a job (contract, jobs). */
export const metadataBatch = open({
  method: "POST",
  path: "/v1/metadata",
  summary: "Titles, descriptions, icons and feeds of several web pages, as a job",
  body: metadataBatchSchema,
  lenientQuery: batchQuerySchema,
  maxBody: MAX_BATCH_BYTES,
  answers: () => ({}),
  accepted: json(jobSchema),
  headers: BATCH_HEADERS,
  statuses: BATCH_STATUSES,
  unreadable: refuseBatch,
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
  readonly prettify: boolean;
  readonly freshness: Freshness;
}

/** Parses the query (contract, GET /v1/metadata/). Throws a 400 that names the invalid parameter. */
export function readMetadataRequest(search: URLSearchParams, safety: UrlSafetyOptions): MetadataRequest {
  const query = new QueryParameters(search);
  const page = query.page(safety);
  const technologies = query.boolean("technologies", false);
  const prettify = query.boolean("prettify", false);
  const freshness = readFreshness(query);
  query.refuseOthers();
  return { page, technologies, prettify, freshness };
}

/**
 * Returns the metadata of a page, from the cache or from a new load.
 *
 * @param admitted rejects if the rate limit or the authorization refuses the caller
 */
export async function metadataAnswer(
  work: PageWork,
  { page, technologies, prettify, freshness }: MetadataRequest,
  admitted: Promise<void>,
): Promise<KeptAnswer> {
  const key = await cacheKey(work, "metadata", [page.href, technologies]);
  const make = async () => {
    // The code that reads pages is large. Loading it on first use makes other isolates start faster.
    const { describe } = await import("./describe.ts");
    return describe(work, page, technologies);
  };
  const answer = await keptOrMade(work, key, freshness, admitted, make);
  return prettify ? prettyAnswer(answer) : answer;
}
