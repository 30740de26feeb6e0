import type { ArgumentsWriter } from "./arguments.ts";
import { conform, kindAt } from "./conform.ts";
import type { Declared } from "./declared.ts";
import { elementsSource } from "./elements.ts";
import { literalSource, mayBeLiteral, NUMERIC } from "./literals.ts";

/** So much of an undeclared text waits, in case that the parameter is repeated and becomes an array. */
const WAIT = 128;

/** How the request's schema wants a parameter: exactly a string, a list or object, or not said. */
export type Wanted = "text" | "structure" | "any";

/**
 * The value of one parameter while it comes. Text is written on as soon as it can not be a literal any more; what may be a
 * literal or elements waits for the end (contract, Tool calling rules, rule 3).
 */
export class ParameterValue {
  readonly #writer: ArgumentsWriter;
  readonly #name: string;
  readonly #wanted: Wanted;
  readonly #declared: Declared;
  /** The value so far, as far as it is not written. */
  #text = "";
  /** White space that counts only if more follows. */
  #gap = "";
  #started = false;
  #written = false;
  /** Text stood outside CDATA. */
  #bare = false;
  /** The body as it came, kept while it may be built of elements. */
  #raw = "";
  /** The last unit of that which is no white space. */
  #tail = "";
  #maybe = true;
  /** Units from the first one that is no white space on, and that one. */
  #length = 0;
  #lead = "";

  constructor(writer: ArgumentsWriter, name: string, wanted: Wanted, declared: Declared) {
    this.#writer = writer;
    this.#name = name;
    this.#wanted = wanted;
    this.#declared = declared;
    writer.begin(name);
  }

  /** Whether text outside CDATA has begun. */
  get bare(): boolean {
    return this.#bare;
  }

  /** Whether CDATA can be expected here: at the start, behind other CDATA, and behind a tag of an element. */
  get expectsCdata(): boolean {
    if (!this.#bare) return true;
    return this.#wanted !== "text" && this.#maybe && this.#lead === "<" && this.#tail === ">";
  }

  /** Adds text from outside CDATA, entities decoded; `raw` is the same as it came. White space at both ends is dropped. */
  add(text: string, raw: string): void {
    const piece = this.#started ? text : text.trimStart();
    if (piece === "") {
      if (this.#started) this.#keepRaw(raw);
      return;
    }
    this.#bare = true;
    this.#keepRaw(raw);
    const core = piece.trimEnd();
    if (core !== "") this.#take(this.#gap + core);
    this.#gap = core === "" ? this.#gap + piece : piece.slice(core.length);
  }

  /** Adds a character that an entity stood for; it counts even if it is white space. */
  addDecoded(text: string, raw: string): void {
    this.#bare = true;
    this.#keepRaw(raw);
    this.#take(this.#gap + text);
    this.#gap = "";
  }

  /** Adds text from within CDATA, where white space counts unless there is nothing else. */
  addVerbatim(text: string): void {
    if (this.#written && this.#gap === "") {
      this.#writer.string(this.#name, text);
      return;
    }
    this.#keepRaw(text);
    // Before the value begins the gap is white space, and is not looked at again with each piece.
    if (!this.#started && text.trim() === "") {
      this.#gap += text;
      return;
    }
    const piece = this.#gap + text;
    this.#gap = "";
    this.#take(piece);
  }

  /** Notes the marks of a CDATA section, which are part of the body only if that is built of elements. */
  mark(raw: string): void {
    if (this.#bare) this.#keepRaw(raw);
  }

  /** The parameter is complete. */
  end(): void {
    if (this.#written) {
      this.#writer.endString();
      return;
    }
    if (!this.#started) this.#writer.value(this.#name, '""');
    else this.#writer.value(this.#name, this.#source());
  }

  /** The invoke ended within the parameter: what was or could have been written stays, anything else is dropped. */
  cut(): void {
    if (this.#written) this.#writer.endString();
    else if (this.#started && this.#isPlain()) this.#writer.value(this.#name, JSON.stringify(this.#text));
  }

  /** The text ended within the parameter: what is certain to be a string is written, and stays without an end. */
  leave(): void {
    if (this.#written || !this.#started || !this.#isPlain() || !this.#writer.canStream(this.#name)) return;
    this.#writer.string(this.#name, this.#text);
  }

  #source(): string {
    const text = JSON.stringify(this.#text);
    if (this.#wanted === "text") return text;
    const source = literalSource(this.#text) ?? this.#elements();
    if (source === undefined) return text;
    const declared = this.#declared;
    const kind = kindAt(source[0]);
    if (kind === "null" || declared.allows(kind)) return conform(source, declared);
    if (declared.allows("string")) return text;
    // Perhaps one of several of its name, which make the array together.
    return declared.allows("array") ? conform(source, declared.item(0)) : source;
  }

  #elements(): string | undefined {
    const quoted = !this.#bare;
    const body = quoted ? this.#text : this.#raw;
    if (!body.trimStart().startsWith("<")) return undefined;
    return elementsSource(body, quoted && this.#wanted !== "structure");
  }

  /** Whether the value is sure to be a string, and long enough to be written at once. */
  #isPlain(): boolean {
    return this.#wanted === "text" || (!this.#maybe && this.#length >= WAIT);
  }

  /** Keeps `#maybe` true: reads the whole text only while it is short, and then what is new. */
  #weigh(piece: string): void {
    if (!this.#maybe || this.#wanted === "text") return;
    if (this.#length <= WAIT || this.#length === piece.length) {
      const start = this.#text.slice(-this.#length);
      this.#maybe = start.startsWith("<") || mayBeLiteral(start);
    } else if (!"{[<".includes(this.#lead)) this.#maybe = NUMERIC.test(piece);
  }

  #keepRaw(raw: string): void {
    if (this.#wanted === "text" || !this.#maybe) return;
    this.#raw += raw;
    this.#tail = raw.trimEnd().at(-1) ?? this.#tail;
  }

  #take(text: string): void {
    let piece = text;
    if (!this.#started) {
      this.#started = true;
      piece = text.trimStart();
      this.#lead = piece[0] ?? " ";
    }
    if (this.#written) {
      this.#writer.string(this.#name, text);
      return;
    }
    this.#text += text;
    this.#length += piece.length;
    this.#weigh(piece);
    if (!this.#isPlain() || !this.#writer.canStream(this.#name)) return;
    this.#written = true;
    this.#writer.string(this.#name, this.#text);
    this.#text = "";
  }
}
