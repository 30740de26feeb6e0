import { fromBase64Url, toBase64Url, toUtf8 } from "../../../core/encoding/bytes.ts";
import type { JsonObject } from "../../../core/encoding/json.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { optionalString } from "../shared/members.ts";

/** Prefix that distinguishes content of this gateway from content of other services. */
const SUMMARY_PREFIX = "pg1.";

/** Heading that the model reads before a summary. */
const SUMMARY_HEADING = "Summary of the conversation up to here, which it replaces:";

/** Encodes a summary as `encrypted_content`. It is not encrypted, because it is the caller's own conversation. */
export function encodeSummary(summary: string): string {
  return SUMMARY_PREFIX + toBase64Url(toUtf8(summary));
}

/**
 * Returns the summary text of a compaction item.
 *
 * @throws GatewayError 400 for content of another service: an answer without it would silently ignore the earlier
 * conversation.
 */
export function decodeSummary(item: JsonObject, fieldPath: string): string {
  const content = optionalString(item, "encrypted_content") ?? "";
  const field = `${fieldPath}.encrypted_content`;
  if (!content.startsWith(SUMMARY_PREFIX))
    throw invalidRequest(`${field} was not made here and cannot be read`, field);
  try {
    const bytes = fromBase64Url(content.slice(SUMMARY_PREFIX.length));
    return `${SUMMARY_HEADING}\n\n${new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)}`;
  } catch {
    throw invalidRequest(`${field} is broken`, field);
  }
}
