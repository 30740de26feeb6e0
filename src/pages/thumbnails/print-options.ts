import { invalidRequest } from "../../core/errors/gateway-error.ts";
import type { PaperLayout } from "../../core/ports/page-browser.ts";
import type { QueryParameters } from "../http/query-parameters.ts";

/** Maximum characters of a header or footer, and of `pageRanges`. */
export const MAX_BANNER = 500;
export const MAX_RANGES = 100;
/** Maximum number of sheets in all ranges together, and the highest number of a sheet. */
const MAX_SHEETS = 100;
const MAX_SHEET = 9_999;

/** Placeholders in a header or footer, and the classes of elements that Chromium fills (DevTools protocol, Page.printToPDF). */
const PLACEHOLDERS: ReadonlyMap<string, string> = new Map([
  ["page", "pageNumber"],
  ["pages", "totalPages"],
  ["date", "date"],
  ["title", "title"],
  ["url", "url"],
]);
const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** The header, footer and ranges of a PDF. Throws a 400 that names the parameter. */
export function readPrintOptions(query: QueryParameters): Pick<PaperLayout, "header" | "footer" | "ranges"> {
  return {
    header: createBanner("header", query.limitedText("header", MAX_BANNER)),
    footer: createBanner("footer", query.limitedText("footer", MAX_BANNER)),
    ranges: parseRanges(query.limitedText("pageRanges", MAX_RANGES)),
  };
}

/**
 * The HTML of a header or footer. The caller's text is escaped, because interception does not see what a header loads.
 */
function createBanner(param: string, text: string | null): string | null {
  if (text === null) return null;
  const parts = text.split("|");
  const [left = "", middle = "", right = ""] =
    parts.length === 1 ? ["", text] : parts.length === 2 ? [parts[0], "", parts[1]] : parts;
  if (parts.length > 3) throw invalidRequest(`The parameter ${param} has at most three parts.`, param);
  const cells = [left, middle, right].map(
    (part, index) =>
      `<span style="flex:1;text-align:${["left", "center", "right"][index]}">${toBannerHtml(part.trim())}</span>`,
  );
  return `<div style="display:flex;width:100%;margin:0 1cm;font:8px sans-serif">${cells.join("")}</div>`;
}

function toBannerHtml(text: string): string {
  return text
    .replace(/[&<>]/g, (character) => ESCAPES[character] ?? "")
    .replace(/\{(\w{1,10})\}/g, (placeholder, name: string) => {
      const className = PLACEHOLDERS.get(name.toLowerCase());
      return className === undefined ? placeholder : `<span class="${className}"></span>`;
    });
}

/** Ranges such as `1-3,5`, ascending and of at most `MAX_SHEETS` sheets. */
function parseRanges(text: string | null): PaperLayout["ranges"] {
  if (text === null) return [];
  const ranges = text.split(",").map((range) => {
    const [, first, last = first] = /^ *(\d{1,4})(?: *- *(\d{1,4}))? *$/.exec(range) ?? [];
    return { first: Number(first), last: Number(last) };
  });
  let previous = 0;
  let sheets = 0;
  for (const { first, last } of ranges) {
    if (!(first > previous && last >= first && last <= MAX_SHEET)) throw invalidRanges();
    previous = last;
    sheets += last - first + 1;
  }
  if (sheets > MAX_SHEETS) throw invalidRanges();
  return ranges;
}

function invalidRanges() {
  return invalidRequest(
    `The parameter pageRanges must be ascending sheets such as 1-3,5, at most ${MAX_SHEETS} in all.`,
    "pageRanges",
  );
}
