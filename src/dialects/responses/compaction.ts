import { fromBase64Url, toBase64Url, toUtf8 } from "../../encoding/bytes.ts";
import type { JsonObject } from "../../encoding/json.ts";
import { invalidRequest } from "../../errors/gateway-error.ts";
import { optionalString } from "../shared/members.ts";

/** Prefix that distinguishes content of this gateway from content of other services. */
const MARK = "pg1.";

/** Heading that the model reads before a summary. */
const HEADING = "Summary of the conversation up to here, which it replaces:";

/** Encodes a summary as `encrypted_content`. It is not encrypted, because it is the caller's own conversation. */
export function packSummary(summary: string): string {
  return MARK + toBase64Url(toUtf8(summary));
}

/**
 * Returns the summary text of a compaction item.
 *
 * @throws GatewayError 400 for content of another service: an answer without it would silently ignore the earlier
 * conversation.
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
