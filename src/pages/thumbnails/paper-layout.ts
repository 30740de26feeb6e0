import { invalidRequest } from "../../core/errors/gateway-error.ts";
import type { PaperLayout } from "../../core/ports/page-browser.ts";
import type { QueryParameters } from "../http/query-parameters.ts";

const MM_PER_INCH = 25.4;

/** Width and height of each paper in inches, upright (ISO 216, ANSI/ASME Y14.1). */
const PAPERS: ReadonlyMap<string, readonly [width: number, height: number]> = new Map([
  ["a0", [841 / MM_PER_INCH, 1189 / MM_PER_INCH]],
  ["a1", [594 / MM_PER_INCH, 841 / MM_PER_INCH]],
  ["a2", [420 / MM_PER_INCH, 594 / MM_PER_INCH]],
  ["a3", [297 / MM_PER_INCH, 420 / MM_PER_INCH]],
  ["a4", [210 / MM_PER_INCH, 297 / MM_PER_INCH]],
  ["a5", [148 / MM_PER_INCH, 210 / MM_PER_INCH]],
  ["a6", [105 / MM_PER_INCH, 148 / MM_PER_INCH]],
  ["letter", [8.5, 11]],
  ["legal", [8.5, 14]],
  ["tabloid", [11, 17]],
  ["ledger", [17, 11]],
]);

/** The papers by name. */
export const PAPER_NAMES: readonly string[] = [...PAPERS.keys()];
/** The default paper. */
export const DEFAULT_PAPER = "a4";

/** Inches per unit. */
const INCHES_PER_UNIT: Readonly<Record<string, number>> = {
  px: 1 / 96,
  pt: 1 / 72,
  mm: 1 / MM_PER_INCH,
  cm: 10 / MM_PER_INCH,
  in: 1,
};
/** The default margin of browsers, and the minimum space for the page in each direction, in inches. */
const DEFAULT_MARGIN = "1cm";
const MIN_CONTENT_INCHES = 1;

/** The paper of a PDF, from `paper`, `landscape` and `margins`. Throws a 400 that names the parameter. */
export function readPaperLayout(query: QueryParameters): Pick<PaperLayout, "width" | "height" | "margins"> {
  const paper = query.choice("paper", PAPER_NAMES) ?? DEFAULT_PAPER;
  const [paperWidth, paperHeight] = PAPERS.get(paper) ?? [0, 0];
  const [width, height] = query.boolean("landscape", false)
    ? [paperHeight, paperWidth]
    : [paperWidth, paperHeight];
  const margins = readMargins(query);
  const { top, right, bottom, left } = margins;
  if (width - left - right >= MIN_CONTENT_INCHES && height - top - bottom >= MIN_CONTENT_INCHES)
    return { width, height, margins };
  throw invalidRequest(
    `The margins leave no room on the paper, which has ${toMillimetres(width)} by ${toMillimetres(height)} mm.`,
    "margins",
  );
}

/** One to four lengths, in the order of CSS: top, right, bottom, left. */
function readMargins(query: QueryParameters): PaperLayout["margins"] {
  const text = query.text("margins");
  const lengths = (text ?? DEFAULT_MARGIN).split(/[\s,]+/).map(parseInches);
  const [top, right = top, bottom = top, left = right] = lengths;
  if (
    top !== undefined &&
    right !== undefined &&
    bottom !== undefined &&
    left !== undefined &&
    lengths.length <= 4
  ) {
    if (![top, right, bottom, left].some(Number.isNaN)) return { top, right, bottom, left };
  }
  const message =
    "The parameter margins must be one to four lengths in px, pt, mm, cm or in, such as 10mm or 1in,20mm: top, right, bottom, left.";
  throw invalidRequest(message, "margins");
}

/** A length such as `10mm` in inches; only zero needs no unit. */
function parseInches(length: string): number {
  if (/^0(?:\.0{1,3})?$/.test(length)) return 0;
  const [, number, unit = ""] = /^(\d{1,4}(?:\.\d{1,3})?)(px|pt|mm|cm|in)$/i.exec(length) ?? [];
  // Rounded, so that equal lengths in different units share a cache entry.
  return Math.round(Number(number) * (INCHES_PER_UNIT[unit.toLowerCase()] ?? Number.NaN) * 10_000) / 10_000;
}

function toMillimetres(length: number): number {
  return Math.round(length * MM_PER_INCH);
}
