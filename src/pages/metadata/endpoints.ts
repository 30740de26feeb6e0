import type { LoadMoment } from "../../core/ports/page-browser.ts";
import { jsonResponse } from "../../core/routing/endpoint.ts";
import type { ServableAnswer } from "../answers/answer.ts";
import { withPrettyJson } from "../answers/json-answer.ts";
import { createCacheKey, getOrCreate } from "../cache/answer-cache.ts";
import { readFreshness } from "../http/freshness.ts";
import { MOMENT_PARAMETERS, readMoment } from "../http/moment-parameters.ts";
import { OPERATION_HEADERS, OPERATION_STATUSES } from "../http/openapi-descriptions.ts";
import { type PageSource, readPageUrl, readSetup } from "../http/page-setup-parameters.ts";
import { flag, readParameters } from "../http/parameter-table.ts";
import { QueryParameters } from "../http/query-parameters.ts";
import { createQuerySchema, PRETTIFY } from "../http/query-schemas.ts";
import type { Operation, OperationRequest } from "../operations/define-operation.ts";
import type { PageWork } from "../operations/page-work.ts";
import { metadataSchema } from "./result.ts";

/** The parameters of this operation alone. */
const METADATA_PARAMETERS = {
  technologies: flag("Also returns the technologies of the page."),
  prettify: PRETTIFY,
};

/** A metadata request. */
interface MetadataRequest extends OperationRequest {
  readonly page: URL;
  /** Whether to detect the page's technologies too. */
  readonly technologies: boolean;
  readonly moment: LoadMoment;
  readonly prettify: boolean;
}

/** Parses the query (docs/page-contract.md, GET /v1/metadata/). Throws a 400 that names the invalid parameter. */
function readMetadataRequest(search: URLSearchParams, source: PageSource): MetadataRequest {
  const query = new QueryParameters(search);
  const page = readPageUrl(query, source);
  const setup = readSetup(query, source);
  const { technologies, prettify } = readParameters(query, METADATA_PARAMETERS);
  const moment = readMoment(query);
  const freshness = readFreshness(query, setup);
  query.rejectUnknown();
  return { page, setup, technologies, moment, prettify, freshness };
}

/**
 * Returns the metadata of a page, from the cache or from a new load.
 *
 * @param admitted rejects if the rate limit or the authorization refuses the caller
 */
async function getMetadataAnswer(
  work: PageWork,
  { page, setup, technologies, moment, prettify, freshness }: MetadataRequest,
  admitted: Promise<void>,
): Promise<ServableAnswer> {
  const make = async (signal?: AbortSignal) => {
    // The code that reads pages is large. Loading it on first use makes other isolates start faster.
    const { loadMetadata } = await import("./load-metadata.ts");
    return loadMetadata({ ...work, signal }, { page, setup, moment }, technologies);
  };
  const key = await createCacheKey(work, "metadata", setup, [page.href, technologies, moment]);
  const answer = await getOrCreate(work, key, freshness, admitted, make);
  return prettify ? withPrettyJson(answer) : answer;
}

/** `/v1/metadata`: metadata of a page (docs/page-contract.md, GET /v1/metadata/). */
export const METADATA: Operation<MetadataRequest> = {
  name: "metadata",
  summary: "Title, description, icons and feeds of a web page",
  query: createQuerySchema({ ...MOMENT_PARAMETERS, ...METADATA_PARAMETERS }),
  answers: jsonResponse(metadataSchema),
  headers: OPERATION_HEADERS,
  statuses: OPERATION_STATUSES,
  read: readMetadataRequest,
  getAnswer: getMetadataAnswer,
};
