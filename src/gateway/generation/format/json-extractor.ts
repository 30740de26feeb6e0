import { type JsonFormat, rankJson } from "./json-rank.ts";

const FENCE = "```";

/**
 * The beginning of a JSON object or array: long enough to distinguish it from words in brackets. White space is limited, so
 * that a model that writes only white space costs little time.
 */
const BEGINS_VALUE = /^(?:\{\s{0,200}["}]|\[\s{0,200}(?:["{[\]]|-?\d|true|false|null))/;
/** A text that may still become such a beginning. */
const MAY_BEGIN_VALUE = /^(?:\{\s{0,200}|\[\s{0,200}(?:-|t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?)?)$/;

/** Most characters between an opening fence and the end of its line. */
const MAX_INFO = 200;

/** The opening brackets that a value of the format can begin with. */
function allowedOpeningBrackets(format: JsonFormat): string {
  const type = format.type === "json-schema" ? format.schema["type"] : undefined;
  return type === "object" ? "{" : type === "array" ? "[" : "{[";
}

/** The parts of a text that may be JSON: the whole text, a code fence's content, or from the first bracket to the last. */
function* listCandidates(text: string): Generator<string> {
  yield text.trim();
  const fence = text.indexOf(FENCE);
  const contentStart = fence === -1 ? -1 : text.indexOf("\n", fence);
  if (contentStart !== -1) {
    const end = text.lastIndexOf(FENCE);
    if (end > contentStart) yield text.slice(contentStart, end).trim();
    const next = text.indexOf(FENCE, contentStart);
    if (next !== -1 && next !== end) yield text.slice(contentStart, next).trim();
  }
  const start = text.search(/[[{]/);
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
  if (start !== -1 && end > start) yield text.slice(start, end + 1);
}

/** Finds the JSON within a text: the first valid part, else the first part that is JSON, else the whole text. */
function findBestJson(text: string, format: JsonFormat): string {
  let best: string | null = null;
  for (const candidate of listCandidates(text)) {
    const { rank } = rankJson(candidate, format);
    if (rank === "valid") return candidate;
    if (rank === "json") best ??= candidate;
  }
  return best ?? text;
}

/**
 * Removes the code fence and the text around a JSON answer, while the answer streams. It holds back the text before the
 * JSON and the text after it; the JSON itself passes through at once. If the answer does not begin with an object or array,
 * bare or in a fence, it is held to its end. Complete answers go through the same stage, so that both give the same text.
 */
export class JsonExtractor {
  readonly #format: JsonFormat;
  readonly #roots: string;
  #state: "bare" | "words" | "opening" | "fenced" | "value" | "after" | "over" | "held" = "bare";
  /** The held text, unchanged. */
  #held: string[] = [];
  /** The part of the held text that decides the next state. */
  #head = "";
  #inFence = false;
  #depth = 0;
  #inString = false;
  #escaped = false;

  constructor(format: JsonFormat) {
    this.#format = format;
    this.#roots = allowedOpeningBrackets(format);
  }

  /** Takes the next piece of the answer. Returns the text that can be shown. */
  push(piece: string): string {
    if (this.#state === "value") return this.#passValue(piece);
    if (this.#state === "over") return "";
    this.#held.push(piece);
    if (this.#state === "held") return "";
    this.#head += piece;
    if (this.#state === "after") {
      this.#readAfterValue();
      return "";
    }
    if (!this.#seek()) return "";
    this.#state = "value";
    const head = this.#head;
    this.takeHeldText();
    return this.#passValue(head);
  }

  /** Ends the answer. Returns the remaining text. */
  finish(): string {
    const held = this.takeHeldText();
    if (this.#state === "value" || this.#state === "over") return "";
    if (this.#state !== "after") return findBestJson(held, this.#format);
    // Words after the JSON are dropped. Text with brackets may be more JSON, so it is kept.
    if (!/[}\]]/.test(held)) return "";
    const end = held.trimEnd();
    return this.#inFence && end.endsWith(FENCE) ? end.slice(0, -FENCE.length).trimEnd() : held;
  }

  /** Returns the held text unchanged, for an answer that is not JSON after all. */
  takeHeldText(): string {
    const held = this.#held.join("");
    this.#held = [];
    this.#head = "";
    return held;
  }

  /** Looks for the beginning of the JSON: at the beginning of the answer, else in its first fence. */
  #seek(): boolean {
    if (this.#state === "bare") {
      const begins = this.#beginsValue();
      if (begins !== false) return begins === true;
      this.#state = "words";
    }
    if (this.#state === "words") {
      const fence = this.#head.indexOf(FENCE);
      this.#head = fence === -1 ? this.#head.slice(1 - FENCE.length) : this.#head.slice(fence + FENCE.length);
      if (fence === -1) return false;
      this.#state = "opening";
    }
    if (this.#state === "opening") {
      const line = this.#head.indexOf("\n");
      if (line === -1 && this.#head.length <= MAX_INFO) return false;
      this.#state = line === -1 || line > MAX_INFO ? "held" : "fenced";
      this.#inFence = this.#state === "fenced";
      this.#head = this.#head.slice(line);
    }
    if (this.#state !== "fenced") return false;
    const begins = this.#beginsValue();
    if (begins === false) this.#state = "held";
    return begins === true;
  }

  /** Whether the JSON begins here, with an object or an array; null: not decidable yet. */
  #beginsValue(): boolean | null {
    const head = this.#head.trimStart();
    this.#head = head;
    if (head === "") return null;
    if (!this.#roots.includes(head.charAt(0))) return false;
    return MAY_BEGIN_VALUE.test(head) ? null : BEGINS_VALUE.test(head);
  }

  /** Lets the JSON through, up to the bracket that closes it. */
  #passValue(piece: string): string {
    for (let index = 0; index < piece.length; index += 1) {
      if (!this.#consumeAndCheckEnd(piece.charAt(index))) continue;
      this.#state = "after";
      this.#head = piece.slice(index + 1);
      this.#held.push(this.#head);
      this.#readAfterValue();
      return piece.slice(0, index + 1);
    }
    return piece;
  }

  /** Takes the next character. Returns whether it closes the outermost bracket. */
  #consumeAndCheckEnd(char: string): boolean {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (char === "\\") this.#escaped = true;
      else if (char === '"') this.#inString = false;
      return false;
    }
    if (char === '"') this.#inString = true;
    else if (char === "{" || char === "[") this.#depth += 1;
    else if (char === "}" || char === "]") this.#depth -= 1;
    return this.#depth === 0;
  }

  /** Handles text after the JSON. Once its fence is closed, all further text is dropped. */
  #readAfterValue(): void {
    if (!this.#inFence) {
      this.#head = "";
      return;
    }
    this.#head = this.#head.trimStart().slice(0, FENCE.length);
    if (this.#head !== FENCE) return;
    this.#state = "over";
    this.takeHeldText();
  }
}

/** The JSON of a complete answer, extracted by {@link JsonExtractor}. */
export function extractJson(answer: string, format: JsonFormat): string {
  const stage = new JsonExtractor(format);
  return stage.push(answer) + stage.finish();
}
