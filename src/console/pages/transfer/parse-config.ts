import { fromBase64 } from "../../../encoding/bytes.ts";

/** A text of base64, with or without line breaks. */
const BASE64 = /^[A-Za-z0-9+/\s]+(?:=+\s*)?$/;

/** What a text is the base64 of; null when that is no configuration: plain words may have the letters of base64, too. */
function decoded(text: string): string | null {
  if (!BASE64.test(text)) return null;
  try {
    const inner = new TextDecoder("utf-8", { fatal: true }).decode(fromBase64(text));
    return inner.trimStart().startsWith("{") ? inner : null;
  } catch {
    return null;
  }
}

/**
 * Reads JSON.
 *
 * @param fault what is wrong with a text that is none
 */
function parse(json: string, fault: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new Error(`${fault}: ${error instanceof Error ? error.message : error}`);
  }
}

/**
 * Reads a configuration from JSON or base64 of it; also from an export's whole answer.
 *
 * @throws Error in words for the person who pasted it.
 */
export function parseConfig(text: string): object {
  const inner = decoded(text.trim());
  const parsed =
    inner === null ? parse(text.trim(), "This is no JSON") : parse(inner, "This is base64, but of no JSON");
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new Error("A configuration is a JSON object.");
  }
  const whole = "config" in parsed && "json" in parsed ? parsed.config : parsed;
  return typeof whole === "object" && whole !== null ? whole : parsed;
}
