import type { CDPSession } from "@cloudflare/puppeteer";
import { concatBytes, fromBase64 } from "../../../core/encoding/bytes.ts";
import { GatewayError, invalidRequest } from "../../../core/errors/gateway-error.ts";
import type { PaperLayout, PrintOutcome } from "../../../core/ports/page-browser.ts";
import { MAX_OUTCOME_BYTES } from "../rpc-result.ts";

/** Maximum number of sheets of a PDF. */
const MAX_SHEETS = 100;
const CHUNK_BYTES = 1_000_000;

/**
 * Prints the shown page with backgrounds, according to its own print styles. Throws GatewayError 422 if the PDF is too
 * large.
 */
export async function printPage(
  session: CDPSession,
  sheet: PaperLayout,
  signal: AbortSignal,
): Promise<Pick<PrintOutcome, "kind" | "bytes" | "sheets" | "isCut">> {
  const { ranges } = sheet;
  const bytes = await (ranges.length === 0
    ? printRanges(session, sheet, `1-${MAX_SHEETS}`)
    : printRanges(session, sheet, formatRanges(ranges)).catch(throwPrintError));
  const sheets = countSheets(bytes);
  signal.throwIfAborted();
  const isCut =
    ranges.length === 0 && sheets >= MAX_SHEETS && (await hasSheet(session, sheet, MAX_SHEETS + 1));
  return { kind: "print", bytes, sheets, isCut };
}

function formatRanges(ranges: PaperLayout["ranges"]): string {
  return ranges.map(({ first, last }) => `${first}-${last}`).join(",");
}

/** The browser's error if no sheet is in the ranges. */
function throwPrintError(error: unknown): never {
  if (!(error instanceof Error) || !/page range/i.test(error.message)) throw error;
  throw invalidRequest("The page has no sheet in pageRanges.", "pageRanges");
}

async function printRanges(
  session: CDPSession,
  { width, height, margins, header, footer, outline }: PaperLayout,
  pageRanges: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const { stream = "" } = await session.send("Page.printToPDF", {
    paperWidth: width,
    paperHeight: height,
    marginTop: margins.top,
    marginRight: margins.right,
    marginBottom: margins.bottom,
    marginLeft: margins.left,
    printBackground: true,
    ...((header !== null || footer !== null) && {
      displayHeaderFooter: true,
      headerTemplate: header ?? "<span></span>",
      footerTemplate: footer ?? "<span></span>",
    }),
    ...(outline && { generateDocumentOutline: true, generateTaggedPDF: true }),
    // A page range beyond the last sheet is harmless.
    pageRanges,
    transferMode: "ReturnAsStream",
  });
  try {
    return await readStream(session, stream);
  } finally {
    session.send("IO.close", { handle: stream }).catch(() => undefined);
  }
}

async function readStream(session: CDPSession, handle: string): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (;;) {
    const { data, eof, base64Encoded = false } = await session.send("IO.read", { handle, size: CHUNK_BYTES });
    const chunk = base64Encoded
      ? fromBase64(data)
      : Uint8Array.from(data, (character) => character.charCodeAt(0));
    pieces.push(chunk);
    length += chunk.byteLength;
    if (length > MAX_OUTCOME_BYTES) {
      throw new GatewayError(422, "The PDF of the page is too large.", {
        code: "page_too_large",
        param: "url",
      });
    }
    if (eof) return concatBytes(pieces);
  }
}

async function hasSheet(session: CDPSession, sheet: PaperLayout, number: number): Promise<boolean> {
  return printRanges(session, sheet, String(number)).then(
    () => true,
    () => false,
  );
}

/** Number of sheets of a PDF from the browser, read from the root of its page tree, which comes last; 0 if not found. */
export function countSheets(pdf: Uint8Array): number {
  const text = new TextDecoder("latin1").decode(pdf);
  const [, count = "0"] =
    [...text.matchAll(/\/Type\s*\/Pages\b(?:(?!\/Type\s*\/Pages\b)[^>])*?\/Count\s+(\d+)/g)].at(-1) ?? [];
  return Number(count);
}
