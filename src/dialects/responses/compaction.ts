import { fromBase64Url, toBase64Url, toUtf8 } from "../../encoding/bytes.ts";
import type { JsonObject } from "../../encoding/json.ts";
import { invalidRequest } from "../../errors/gateway-error.ts";
import { optionalString } from "../shared/members.ts";

/** Tells our own content from that of other services. */
const MARK = "pg1.";

/** What the model reads before a summary. */
const HEADING = "Summary of the conversation up to here, which it replaces:";

/** A summary as `encrypted_content`. It is no secret: it is the caller's own conversation. */
export function packSummary(summary: string): string {
  return MARK + toBase64Url(toUtf8(summary));
}

/**
 * The text that a compaction item stands for.
 *
 * @throws GatewayError 400 for the content of another service: to answer without it would be to forget silently.
 */
export function readSummary(item: JsonObject, where: string): string {
  const content = optionalString(item, "encrypted_content") ?? "";
  const field = `${where}.encrypted_content`;
  if (!content.startsWith(MARK)) throw invalidRequest(`${field} was not made here and cannot be read`, field);
  try {
    const bytes = fromBase64Url(content.slice(MARK.length));
    return `${HEADING}\n\n${new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)}`;
  } catch {
    throw invalidRequest(`${field} is broken`, field);
  }
}
