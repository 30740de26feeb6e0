import { isObject } from "../../../core/encoding/json.ts";

/** Matches the start of a free-text tool's arguments if they follow its schema. */
const INPUT_START = /^\s*\{\s*"input"\s*:\s*"/;
const INPUT_KEY_START = /^\s*\{\s*"input"\s*:\s*/;
/** Maximum number of characters to buffer while looking for this start. */
const MAX_INPUT_START_LENGTH = 64;

/** Decodes the content of a JSON string. Returns invalid content unchanged. */
function unescapeJson(raw: string): string {
  try {
    const decoded: unknown = JSON.parse(`"${raw}"`);
    return typeof decoded === "string" ? decoded : raw;
  } catch {
    return raw;
  }
}

/** Extracts the free text from whole arguments that do not follow the schema. */
function extractFreeText(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  if (typeof value === "string") return value;
  if (!isObject(value)) return text;
  const entries = Object.entries(value);
  const [first] = entries;
  if (first === undefined) return "";
  if (entries.length > 1) return text;
  if (typeof first[1] === "string") return first[1];
  // Take the number's source text: parsing can lose digits.
  return INPUT_KEY_START.test(text)
    ? text.replace(INPUT_KEY_START, "").trimEnd().slice(0, -1).trimEnd()
    : text;
}

/**
 * Extracts the text from the streamed arguments of a free-text tool, `{"input": "…"}` as JSON text. Arguments of any other
 * shape are converted at the end, as completely as possible.
 */
export class FreeTextDecoder {
  #state: "head" | "text" | "whole" | "done" = "head";
  #buffered = "";

  /** Returns the text that the next piece of the arguments adds. */
  push(piece: string): string {
    if (this.#state === "done") return "";
    this.#buffered += piece;
    if (this.#state === "head") {
      const head = INPUT_START.exec(this.#buffered);
      if (head !== null) {
        this.#state = "text";
        this.#buffered = this.#buffered.slice(head[0].length);
      } else if (this.#buffered.length > MAX_INPUT_START_LENGTH) this.#state = "whole";
    }
    return this.#state === "text" ? this.#decode() : "";
  }

  /** Returns the remaining text at the end of the arguments. */
  finish(): string {
    const state = this.#state;
    this.#state = "done";
    return state === "head" || state === "whole" ? extractFreeText(this.#buffered) : "";
  }

  /** Decodes up to the closing quote or up to an incomplete escape sequence. */
  #decode(): string {
    const buffered = this.#buffered;
    let end = 0;
    while (end < buffered.length && buffered[end] !== '"') {
      const length = buffered[end] !== "\\" ? 1 : buffered[end + 1] === "u" ? 6 : 2;
      if (end + length > buffered.length) break;
      end += length;
    }
    if (buffered[end] === '"') this.#state = "done";
    this.#buffered = buffered.slice(end);
    const raw = buffered.slice(0, end);
    if (!raw.includes("\\")) return raw;
    return unescapeJson(raw);
  }
}

/** Extracts the free text from whole arguments. */
export function decodeFreeText(argumentsText: string): string {
  const input = new FreeTextDecoder();
  return input.push(argumentsText) + input.finish();
}
