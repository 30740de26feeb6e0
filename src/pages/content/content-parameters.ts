import type { LoadMoment } from "../../core/ports/page-browser.ts";
import { readFreshness } from "../http/freshness.ts";
import { MAX_SELECTOR, readMoment } from "../http/moment-parameters.ts";
import { type PageSource, readPageUrl, readSetup } from "../http/page-setup-parameters.ts";
import { QueryParameters } from "../http/query-parameters.ts";
import type { OperationRequest } from "../operations/define-operation.ts";
import { MAX_ELEMENTS } from "./query-schemas.ts";
import { CONTENT_FORMATS } from "./result.ts";

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

/** Parses the query (contract, GET /v1/content/). Throws a 400 or 403 that names the invalid parameter. */
export function readContentRequest(search: URLSearchParams, source: PageSource): ContentRequest {
  const query = new QueryParameters(search);
  const page = readPageUrl(query, source);
  const setup = readSetup(query, source);
  const request: ContentRequest = {
    page,
    setup,
    moment: readMoment(query),
    format: query.choice("format", CONTENT_FORMATS) ?? "html",
    selector: query.limitedText("selector", MAX_SELECTOR),
    elements: query.textList("elements", MAX_ELEMENTS, MAX_SELECTOR),
    output: query.choice("output", ["raw", "json"]) ?? "json",
    prettify: query.boolean("prettify", false),
    freshness: readFreshness(query, setup),
  };
  query.rejectUnknown();
  return request;
}
