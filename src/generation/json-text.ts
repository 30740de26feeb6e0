import { type JsonFormat, rankJson } from "./json-rank.ts";

const FENCE = "```";

/**
 * What JSON begins with that is an object or an array: enough of it to be told from words in brackets. White space is
 * bounded, so that a model that writes nothing else costs no time.
 */
const BEGINS_VALUE = /^(?:\{\s{0,200}["}]|\[\s{0,200}(?:["{[\]]|-?\d|true|false|null))/;
/** What may yet become such a beginning. */
const MAY_BEGIN_VALUE = /^(?:\{\s{0,200}|\[\s{0,200}(?:-|t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?)?)$/;

/** The words behind an opening fence are at most this long. */
const MAX_INFO = 200;

/** The brackets that a value of the format can begin with. */
function rootsOf(format: JsonFormat): string {
  const type = format.type === "json-schema" ? format.schema["type"] : undefined;
  return type === "object" ? "{" : type === "array" ? "[" : "{[";
}

/** Where JSON may be within a text: the whole, a code fence's inside, or from the first bracket to the last. */
function* candidates(text: string): Generator<string> {
  yield text.trim();
  const fence = text.indexOf(FENCE);
  const inside = fence === -1 ? -1 : text.indexOf("\n", fence);
  if (inside !== -1) {
    const end = text.lastIndexOf(FENCE);
    if (end > inside) yield text.slice(inside, end).trim();
    const next = text.indexOf(FENCE, inside);
    if (next !== -1 && next !== end) yield text.slice(inside, next).trim();
  }
  const start = text.search(/[[{]/);
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
  if (start !== -1 && end > start) yield text.slice(start, end + 1);
}

/** The JSON within a text, the first that is valid if any is; without any, the text as it is. */
function bestJson(text: string, format: JsonFormat): string {
  let best: string | null = null;
  for (const candidate of candidates(text)) {
    const { rank } = rankJson(candidate, format);
    if (rank === "valid") return candidate;
    if (rank === "json") best ??= candidate;
  }
  return best ?? text;
}

/**
 * Frees an answer that is to be JSON of the code fence and the words around it, while it streams: a push stage. Held back
 * is what stands before the JSON, and what follows it; the JSON itself goes through as it comes. An answer whose beginning
 * shows no object or array, neither bare nor in a fence, is held to its end. Whole answers go through the same stage, so
 * that both say the same.
 */
export class JsonText {
  readonly #format: JsonFormat;
  readonly #roots: string;
  #state: "bare" | "words" | "opening" | "fenced" | "value" | "after" | "over" | "held" = "bare";
  /** What is held back, as it came. */
  #held: string[] = [];
  /** The part of it that tells what comes next. */
  #head = "";
  #inFence = false;
  #depth = 0;
  #inString = false;
  #escaped = false;

  constructor(format: JsonFormat) {
    this.#format = format;
    this.#roots = rootsOf(format);
  }

  /** The text that the next piece of the answer yields. */
  push(piece: string): string {
    if (this.#state === "value") return this.#value(piece);
    if (this.#state === "over") return "";
    this.#held.push(piece);
    if (this.#state === "held") return "";
    this.#head += piece;
    if (this.#state === "after") {
      this.#after();
      return "";
    }
    if (!this.#seek()) return "";
    this.#state = "value";
    const head = this.#head;
    this.rest();
    return this.#value(head);
  }

  /** What is left when the answer has ended. */
  finish(): string {
    const held = this.rest();
    if (this.#state === "value" || this.#state === "over") return "";
    if (this.#state !== "after") return bestJson(held, this.#format);
    // Words that follow the JSON go; what holds brackets is more than words.
    if (!/[}\]]/.test(held)) return "";
    const end = held.trimEnd();
    return this.#inFence && end.endsWith(FENCE) ? end.slice(0, -FENCE.length).trimEnd() : held;
  }

  /** What is held back, as it came: for an answer that turns out to be something else. */
  rest(): string {
    const held = this.#held.join("");
    this.#held = [];
    this.#head = "";
    return held;
  }

  /** Looks for the beginning of the JSON: at the beginning of the answer, else in its first fence. */
  #seek(): boolean {
    if (this.#state === "bare") {
      const begins = this.#begins();
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
    const begins = this.#begins();
    if (begins === false) this.#state = "held";
    return begins === true;
  }

  /** Whether the JSON begins here, with an object or an array; null: that is still to be seen. */
  #begins(): boolean | null {
    const head = this.#head.trimStart();
    this.#head = head;
    if (head === "") return null;
    if (!this.#roots.includes(head.charAt(0))) return false;
    return MAY_BEGIN_VALUE.test(head) ? null : BEGINS_VALUE.test(head);
  }

  /** Lets the JSON through, up to the bracket that closes it. */
  #value(piece: string): string {
    for (let index = 0; index < piece.length; index += 1) {
      if (!this.#closes(piece.charAt(index))) continue;
      this.#state = "after";
      this.#head = piece.slice(index + 1);
      this.#held.push(this.#head);
      this.#after();
      return piece.slice(0, index + 1);
    }
    return piece;
  }

  /** Takes the next character; true: the outermost bracket is closed. */
  #closes(char: string): boolean {
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

  /** Behind the JSON: once its fence is closed, whatever follows is of no interest. */
  #after(): void {
    if (!this.#inFence) {
      this.#head = "";
      return;
    }
    this.#head = this.#head.trimStart().slice(0, FENCE.length);
    if (this.#head !== FENCE) return;
    this.#state = "over";
    this.rest();
  }
}

/** The JSON of a whole answer, freed as {@link JsonText} does. */
export function jsonTextOf(answer: string, format: JsonFormat): string {
  const stage = new JsonText(format);
  return stage.push(answer) + stage.finish();
}
