import { fromBase64 } from "../../../../core/encoding/bytes.ts";
import { texts } from "./texts.ts";

/** Base64 text, with or without line breaks. */
const BASE64 = /^[A-Za-z0-9+/\s]+(?:=+\s*)?$/;

/** Decodes base64; null if the result is not a configuration. Plain words may also look like base64. */
function decodeBase64Config(text: string): string | null {
  if (!BASE64.test(text)) return null;
  try {
    const inner = new TextDecoder("utf-8", { fatal: true }).decode(fromBase64(text));
    return inner.trimStart().startsWith("{") ? inner : null;
  } catch {
    return null;
  }
}

/**
 * Parses JSON.
 *
 * @param fault error message for invalid JSON
 */
function parse(json: string, fault: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new Error(`${fault}: ${error instanceof Error ? error.message : error}`);
  }
}

/**
 * Parses a configuration from JSON or base64 of JSON. Also accepts a complete export response.
 *
 * @throws Error with a message for the user.
 */
export function parseConfig(text: string): object {
  const inner = decodeBase64Config(text.trim());
  const parsed = inner === null ? parse(text.trim(), texts.invalidJson) : parse(inner, texts.noJsonInBase64);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new Error(texts.mustBeObject);
  }
  const config = "config" in parsed && "json" in parsed ? parsed.config : parsed;
  return typeof config === "object" && config !== null ? config : parsed;
}
