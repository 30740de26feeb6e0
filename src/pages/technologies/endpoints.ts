import type { LoadMoment } from "../../core/ports/page-browser.ts";
import { jsonResponse } from "../../core/routing/endpoint.ts";
import type { NewAnswer, ServableAnswer } from "../answers/answer.ts";
import { withPrettyJson } from "../answers/json-answer.ts";
import { createCacheKey, getOrCreate } from "../cache/answer-cache.ts";
import { readFreshness } from "../http/freshness.ts";
import { MOMENT_PARAMETERS, readMoment } from "../http/moment-parameters.ts";
import { OPERATION_HEADERS, OPERATION_STATUSES } from "../http/openapi-descriptions.ts";
import { type PageSource, readPageUrl, readSetup } from "../http/page-setup-parameters.ts";
import { readParameters } from "../http/parameter-table.ts";
import { QueryParameters } from "../http/query-parameters.ts";
import { createQuerySchema, PRETTIFY } from "../http/query-schemas.ts";
import type { Operation, OperationRequest } from "../operations/define-operation.ts";
import type { PageWork } from "../operations/page-work.ts";
import type { PageToLoad } from "./load-page.ts";
import { technologiesSchema } from "./result-schema.ts";

/** A technology request. */
interface TechnologiesRequest extends OperationRequest {
  readonly page: URL;
  readonly moment: LoadMoment;
  readonly prettify: boolean;
}

/** Parses the query (docs/page-contract.md, GET /v1/technologies/). Throws a 400 that names the invalid parameter. */
function readTechnologiesRequest(search: URLSearchParams, source: PageSource): TechnologiesRequest {
  const query = new QueryParameters(search);
  const page = readPageUrl(query, source);
  const setup = readSetup(query, source);
  const moment = readMoment(query);
  const { prettify } = readParameters(query, { prettify: PRETTIFY });
  const freshness = readFreshness(query, setup);
  query.rejectUnknown();
  return { page, setup, moment, prettify, freshness };
}

/**
 * Returns the technologies of a page, from the cache or from a new load.
 *
 * @param admitted rejects if the rate limit or the authorization refuses the caller
 */
async function getTechnologiesAnswer(
  work: PageWork,
  { page, setup, moment, prettify, freshness }: TechnologiesRequest,
  admitted: Promise<void>,
): Promise<ServableAnswer> {
  const key = await createCacheKey(work, "technologies", setup, [page.href, moment]);
  const answer = await getOrCreate(work, key, freshness, admitted, (signal) =>
    loadAndDetect({ ...work, signal }, { page, setup, moment }),
  );
  return prettify ? withPrettyJson(answer) : answer;
}

/** The code that reads pages is large. Loading it on first use makes other isolates start faster. */
async function loadAndDetect(work: PageWork, target: PageToLoad): Promise<NewAnswer> {
  const { detectTechnologies } = await import("./detect-technologies.ts");
  return detectTechnologies(work, target);
}

/** `/v1/technologies`: technologies of a page (docs/page-contract.md, GET /v1/technologies/). */
export const TECHNOLOGIES: Operation<TechnologiesRequest> = {
  name: "technologies",
  summary: "Technologies of a web page",
  query: createQuerySchema(MOMENT_PARAMETERS),
  answers: jsonResponse(technologiesSchema),
  headers: OPERATION_HEADERS,
  statuses: OPERATION_STATUSES,
  read: readTechnologiesRequest,
  getAnswer: getTechnologiesAnswer,
};
