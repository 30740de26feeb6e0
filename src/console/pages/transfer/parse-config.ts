import { fromBase64 } from "../../../encoding/bytes.ts";

/** A text of base64, with or without line breaks. */
const BASE64 = /^[A-Za-z0-9+/\s]+=*\s*$/;

function decoded(text: string): string {
  if (!BASE64.test(text)) return text;
  return new TextDecoder().decode(fromBase64(text));
}

/**
 * Reads a configuration from JSON or base64 of it; also from an export's whole answer.
 *
 * @throws Error in words for the person who pasted it.
 */
export function parseConfig(text: string): object {
  let parsed: unknown;
  try {
    parsed = JSON.parse(decoded(text.trim()));
  } catch (error) {
    throw new Error(`This is no JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new Error("A configuration is a JSON object.");
  }
  const whole = "config" in parsed && "json" in parsed ? parsed.config : parsed;
  return typeof whole === "object" && whole !== null ? whole : parsed;
}
