import { isObject } from "../../encoding/json.ts";

/** Matches the start of a free-text tool's arguments if they follow its schema. */
const HEAD = /^\s*\{\s*"input"\s*:\s*"/;
const HEAD_ANY = /^\s*\{\s*"input"\s*:\s*/;
/** Maximum number of characters to buffer while looking for this start. */
const HEAD_MAX = 64;

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
function textOfArguments(text: string): string {
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
  return HEAD_ANY.test(text) ? text.replace(HEAD_ANY, "").trimEnd().slice(0, -1).trimEnd() : text;
}

/**
 * Extracts the text from the streamed arguments of a free-text tool, `{"input": "…"}` as JSON text. Arguments of any other
 * shape are converted at the end, as completely as possible.
 */
export class FreeTextInput {
  #state: "head" | "text" | "whole" | "done" = "head";
  #held = "";

  /** Returns the text that the next piece of the arguments adds. */
  push(piece: string): string {
    if (this.#state === "done") return "";
    this.#held += piece;
    if (this.#state === "head") {
      const head = HEAD.exec(this.#held);
      if (head !== null) {
        this.#state = "text";
        this.#held = this.#held.slice(head[0].length);
      } else if (this.#held.length > HEAD_MAX) this.#state = "whole";
    }
    return this.#state === "text" ? this.#decode() : "";
  }

  /** Returns the remaining text at the end of the arguments. */
  finish(): string {
    const state = this.#state;
    this.#state = "done";
    return state === "head" || state === "whole" ? textOfArguments(this.#held) : "";
  }

  /** Decodes up to the closing quote or up to an incomplete escape sequence. */
  #decode(): string {
    const held = this.#held;
    let end = 0;
    while (end < held.length && held[end] !== '"') {
      const length = held[end] !== "\\" ? 1 : held[end + 1] === "u" ? 6 : 2;
      if (end + length > held.length) break;
      end += length;
    }
    if (held[end] === '"') this.#state = "done";
    this.#held = held.slice(end);
    const raw = held.slice(0, end);
    if (!raw.includes("\\")) return raw;
    return unescapeJson(raw);
  }
}

/** Extracts the free text from whole arguments. */
export function freeText(argumentsText: string): string {
  const input = new FreeTextInput();
  return input.push(argumentsText) + input.finish();
}
