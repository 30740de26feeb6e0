import { invalidRequest } from "../../core/errors/gateway-error.ts";
import type { PaperLayout } from "../../core/ports/page-browser.ts";
import { choice, describeDefault, flag, parsed, shortText } from "../http/parameter-table.ts";

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

const PAPER_NAMES: readonly string[] = [...PAPERS.keys()];
const DEFAULT_PAPER = "a4";

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

/** The paper of a PDF. */
export const PAPER_PARAMETERS = {
  paper: describeDefault(choice(PAPER_NAMES, "Of a PDF."), DEFAULT_PAPER),
  landscape: flag("The sheets of a PDF lie on their side."),
  margins: parsed(
    shortText("Of a PDF: one to four lengths, such as 10mm or 1in,20mm; top, right, bottom, left."),
    parseMargins,
  ),
};

/** The paper of a PDF. Throws a 400 if the margins leave no room on it. */
export function createPaperLayout({
  paper,
  landscape,
  margins,
}: {
  readonly paper: string | null;
  readonly landscape: boolean;
  readonly margins: PaperLayout["margins"] | null;
}): Pick<PaperLayout, "width" | "height" | "margins"> {
  const [paperWidth, paperHeight] = PAPERS.get(paper ?? DEFAULT_PAPER) ?? [0, 0];
  const [width, height] = landscape ? [paperHeight, paperWidth] : [paperWidth, paperHeight];
  const { top, right, bottom, left } = margins ?? parseMargins(DEFAULT_MARGIN);
  if (width - left - right >= MIN_CONTENT_INCHES && height - top - bottom >= MIN_CONTENT_INCHES)
    return { width, height, margins: { top, right, bottom, left } };
  throw invalidRequest(
    `The margins leave no room on the paper, which has ${toMillimetres(width)} by ${toMillimetres(height)} mm.`,
    "margins",
  );
}

/** One to four lengths, in the order of CSS: top, right, bottom, left. */
function parseMargins(text: string): PaperLayout["margins"] {
  const lengths = text.split(/[\s,]+/).map(parseInches);
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
