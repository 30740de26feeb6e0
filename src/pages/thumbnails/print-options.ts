import { invalidRequest } from "../../core/errors/gateway-error.ts";
import type { PaperLayout } from "../../core/ports/page-browser.ts";
import { flag, parsed, text } from "../http/parameter-table.ts";

/** Maximum characters of a header or footer, and of `pageRanges`. */
const MAX_BANNER = 500;
const MAX_RANGES = 100;
/** Maximum number of sheets in all ranges together, and the highest number of a sheet. */
const MAX_SHEETS = 100;
const MAX_SHEET = 9_999;

/**
 * Placeholders in a header or footer, and the classes of elements that Chromium fills
 * (DevTools protocol, Page.printToPDF).
 */
const PLACEHOLDERS: ReadonlyMap<string, string> = new Map([
  ["page", "pageNumber"],
  ["pages", "totalPages"],
  ["date", "date"],
  ["title", "title"],
  ["url", "url"],
]);
const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** What a PDF has besides the page. */
export const PRINT_PARAMETERS = {
  header: parsed(
    text(
      MAX_BANNER,
      "Of a PDF: text above each sheet; | parts left, middle and right; {page}, {pages}, {date}, {title}, {url}.",
    ),
    createBanner,
  ),
  footer: parsed(text(MAX_BANNER, "Of a PDF: text below each sheet, as header."), createBanner),
  pageRanges: parsed(text(MAX_RANGES, "Of a PDF: the sheets to print, such as 1-3,5."), parseRanges),
  outline: flag("Of a PDF: an outline of the page's headings."),
};

/**
 * The HTML of a header or footer. The caller's text is escaped, because interception does not see what a header loads.
 */
function createBanner(text: string, param: string): string {
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
function parseRanges(text: string): PaperLayout["ranges"] {
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
