import { GatewayError, invalidRequest } from "../../core/errors/gateway-error.ts";
import { readJsonText } from "../../core/http/json-text.ts";
import type { Context } from "../../core/ports/context.ts";

/** Maximum bytes of a document that a caller sends, and of a body that contains one. */
export const MAX_DOCUMENT_BYTES = 1024 * 1024;
/** Maximum characters of Markdown: converting takes time that is not the page's. */
const MAX_MARKDOWN = 256 * 1024;

/** The media types of documents (RFC 7763 for Markdown). */
const DOCUMENT_TYPE = /^\s*text\/(html|markdown)\s*(?:;|$)/i;

/** A document as a caller sends it. */
export type DocumentFormat = "html" | "markdown";

/** Whether the body of a request is a document, not JSON. */
export function hasDocument({ headers }: { readonly headers: Headers }): boolean {
  return DOCUMENT_TYPE.test(headers.get("content-type") ?? "");
}

/** Reads the document that a request's body is, as HTML. Throws GatewayError. */
export async function readDocument({ request, memory, platform }: Context): Promise<string> {
  const timeoutMs = platform.variables.bodyTimeoutMs;
  const options = {
    memory,
    limit: MAX_DOCUMENT_BYTES,
    timeoutMs,
    maxDepth: Number.POSITIVE_INFINITY,
  };
  const text = await readJsonText(request, options).catch((error: unknown) => {
    if (!(error instanceof GatewayError) || error.code !== "invalid json") throw error;
    throw invalidRequest("The document is not valid UTF-8.");
  });
  const format = DOCUMENT_TYPE.exec(request.headers.get("content-type") ?? "")?.[1]?.toLowerCase();
  return toHtmlDocument(format === "markdown" ? "markdown" : "html", text);
}

/** A document as HTML. Throws a 400 if it is empty or too long. */
export async function toHtmlDocument(format: DocumentFormat, text: string): Promise<string> {
  if (text.trim() === "") throw invalidRequest("The document is empty.", format);
  if (format === "html") return text;
  if (text.length > MAX_MARKDOWN)
    throw invalidRequest(`Markdown may have at most ${MAX_MARKDOWN} characters.`, format);
  // Few requests bring Markdown.
  const { markdownToHtml } = await import("./markdown.ts");
  return markdownToHtml(text);
}
