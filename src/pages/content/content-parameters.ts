import type { LoadMoment } from "../../core/ports/page-browser.ts";
import { readFreshness } from "../http/freshness.ts";
import { MAX_SELECTOR, MOMENT_PARAMETERS, readMoment } from "../http/moment-parameters.ts";
import { type PageSource, readPageUrl, readSetup } from "../http/page-setup-parameters.ts";
import { choice, readParameters, text, textList, withDefault } from "../http/parameter-table.ts";
import { QueryParameters } from "../http/query-parameters.ts";
import { createQuerySchema, PRETTIFY } from "../http/query-schemas.ts";
import type { OperationRequest } from "../operations/define-operation.ts";
import { CONTENT_FORMATS } from "./result.ts";

/** Maximum number of `elements`. */
const MAX_ELEMENTS = 20;
const OUTPUTS = ["raw", "json"] as const;

/** The parameters of this operation alone. */
const CONTENT_PARAMETERS = {
  format: withDefault(choice(CONTENT_FORMATS, "The format of the content."), "html"),
  selector: text(MAX_SELECTOR, "CSS selector of the only element to read."),
  elements: textList(
    MAX_ELEMENTS,
    MAX_SELECTOR,
    "CSS selector of elements whose text, HTML and attributes are wanted as data.",
  ),
  output: withDefault(choice(OUTPUTS, "raw: only the content, as plain text."), "json"),
  prettify: PRETTIFY,
};

/** Query of `GET /v1/content`. */
export const contentQuerySchema = createQuerySchema({ ...MOMENT_PARAMETERS, ...CONTENT_PARAMETERS });

/** A content request. */
export interface ContentRequest extends OperationRequest {
  readonly page: URL;
  readonly moment: LoadMoment;
  readonly format: (typeof CONTENT_FORMATS)[number];
  /** Selector of the element to read alone; null: the whole page. */
  readonly selector: string | null;
  /** Selectors of the elements to read as data. */
  readonly elements: readonly string[];
  readonly output: "raw" | "json";
  readonly prettify: boolean;
}

/** Parses the query (docs/page-contract.md, GET /v1/content/). Throws a 400 or 403 that names the invalid parameter. */
export function readContentRequest(search: URLSearchParams, source: PageSource): ContentRequest {
  const query = new QueryParameters(search);
  const page = readPageUrl(query, source);
  const setup = readSetup(query, source);
  const request: ContentRequest = {
    page,
    setup,
    moment: readMoment(query),
    ...readParameters(query, CONTENT_PARAMETERS),
    freshness: readFreshness(query, setup),
  };
  query.rejectUnknown();
  return request;
}
