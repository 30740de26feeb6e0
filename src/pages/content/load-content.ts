import { GatewayError } from "../../core/errors/gateway-error.ts";
import type { NewAnswer } from "../answers/answer.ts";
import { createJsonAnswer } from "../answers/json-answer.ts";
import { incompleteMembers } from "../answers/page-headers.ts";
import type { PageWork } from "../operations/page-work.ts";
import { parseHtml } from "../technologies/html-parser.ts";
import { loadPage } from "../technologies/load-page.ts";
import type { ContentRequest } from "./content-parameters.ts";
import { convertDocument } from "./html-to-markdown.ts";
import type { ContentResult } from "./result.ts";

/** The rest of longer HTML is not converted, in UTF-16 code units. */
const MAX_CONVERTED = 1_000_000;

function convert(html: string, form: "markdown" | "text", url: string): string {
  return convertDocument(parseHtml(html.slice(0, MAX_CONVERTED)), { form, url });
}

/** Loads a page and reads its content. Throws the error for the caller. */
export async function loadContent(work: PageWork, request: ContentRequest): Promise<NewAnswer> {
  const { page, setup, moment, format, selector, elements } = request;
  const selectors = selector === null ? elements : [selector, ...elements];
  const { report, signals, matches } = await loadPage(
    work,
    { page, setup, moment, elements: selectors },
    null,
  );
  const html = selector === null ? (signals.html ?? "") : matches[0]?.[0]?.html;
  if (html === undefined) {
    throw new GatewayError(404, "The parameter selector matches no element.", {
      code: "selector_not_found",
      param: "selector",
    });
  }
  const data = selector === null ? matches : matches.slice(1);
  const result: ContentResult = {
    url: report.url,
    originalUrl: page.href,
    format,
    content: format === "html" ? html : convert(html, format, report.url),
    data: elements.map((name, index) => ({ selector: name, results: [...(data[index] ?? [])] })),
    ...incompleteMembers(report.incomplete),
  };
  return createJsonAnswer(result, report, work.platform.now());
}
