import { isObject } from "../../encoding/json.ts";

/** How the arguments of a free-text tool begin when they are what its schema says. */
const HEAD = /^\s*\{\s*"input"\s*:\s*"/;
const HEAD_ANY = /^\s*\{\s*"input"\s*:\s*/;
/** Longer than any head that is worth waiting for. */
const HEAD_MAX = 64;

/** The text that the inside of a JSON string stands for; what is no JSON stays as it is. */
function unescapeJson(raw: string): string {
  try {
    const decoded: unknown = JSON.parse(`"${raw}"`);
    return typeof decoded === "string" ? decoded : raw;
  } catch {
    return raw;
  }
}

/** The free text in whole arguments that are not what the schema says. */
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
  // A number keeps its digits only as source text.
  return HEAD_ANY.test(text) ? text.replace(HEAD_ANY, "").trimEnd().slice(0, -1).trimEnd() : text;
}

/**
 * Turns the arguments of a free-text tool, `{"input": "…"}` as JSON text, into that text while they stream. Arguments
 * of any other shape come out at the end, as faithfully as can be.
 */
export class FreeTextInput {
  #state: "head" | "text" | "whole" | "done" = "head";
  #held = "";

  /** The text that the next piece of the arguments yields. */
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

  /** What is left when the arguments have ended. */
  finish(): string {
    const state = this.#state;
    this.#state = "done";
    return state === "head" || state === "whole" ? textOfArguments(this.#held) : "";
  }

  /** Decodes up to the closing quote, or up to an escape that is not whole yet. */
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

/** The free text of whole arguments. */
export function freeText(argumentsText: string): string {
  const input = new FreeTextInput();
  return input.push(argumentsText) + input.finish();
}
