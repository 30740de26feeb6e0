import type { ArgumentsWriter } from "./arguments.ts";
import { conform, kindAt } from "./conform.ts";
import type { Declared } from "./declared.ts";
import { elementsSource } from "./elements.ts";
import { literalSource, mayBeLiteral, NUMERIC } from "./literals.ts";

/** Text of an undeclared type is held up to this length, because the parameter may be repeated and become an array. */
const WAIT = 128;

/** The type that the request's schema declares for a parameter: exactly a string, an array or object, or anything else. */
export type Wanted = "text" | "structure" | "any";

/**
 * The value of one parameter while it arrives. Text is written as soon as it can no longer be a literal. A possible literal
 * or element list is held until the end (contract, Tool calling rules, rule 3).
 */
export class ParameterValue {
  readonly #writer: ArgumentsWriter;
  readonly #name: string;
  readonly #wanted: Wanted;
  readonly #declared: Declared;
  /** The part of the value that is not written yet. */
  #text = "";
  /** White space that counts only if more text follows. */
  #gap = "";
  #started = false;
  #written = false;
  /** Whether there was text outside CDATA. */
  #bare = false;
  /** The raw body, kept while it may consist of elements. */
  #raw = "";
  /** The last unit of the raw body that is not white space. */
  #tail = "";
  #maybe = true;
  /** Length from the first unit that is not white space, and that unit. */
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

  /** Whether CDATA is expected here: at the start, after other CDATA, and after a tag of an element. */
  get expectsCdata(): boolean {
    if (!this.#bare) return true;
    return this.#wanted !== "text" && this.#maybe && this.#lead === "<" && this.#tail === ">";
  }

  /** Adds text from outside CDATA with entities decoded; `raw` is the original. White space at both ends is dropped. */
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

  /** Adds a character decoded from an entity. It counts even if it is white space. */
  addDecoded(text: string, raw: string): void {
    this.#bare = true;
    this.#keepRaw(raw);
    this.#take(this.#gap + text);
    this.#gap = "";
  }

  /** Adds text from CDATA. White space counts, unless there is nothing else. */
  addVerbatim(text: string): void {
    if (this.#written && this.#gap === "") {
      this.#writer.string(this.#name, text);
      return;
    }
    this.#keepRaw(text);
    // Before the value begins, the gap is all white space, and is not scanned again for each piece.
    if (!this.#started && text.trim() === "") {
      this.#gap += text;
      return;
    }
    const piece = this.#gap + text;
    this.#gap = "";
    this.#take(piece);
  }

  /** Adds the marks of a CDATA section to the raw body, where they count only if the body consists of elements. */
  mark(raw: string): void {
    if (this.#bare) this.#keepRaw(raw);
  }

  /** Ends the complete parameter. */
  end(): void {
    if (this.#written) {
      this.#writer.endString();
      return;
    }
    if (!this.#started) this.#writer.value(this.#name, '""');
    else this.#writer.value(this.#name, this.#source());
  }

  /** The invoke ended within the parameter: text that was or could have been written is kept, anything else is dropped. */
  cut(): void {
    if (this.#written) this.#writer.endString();
    else if (this.#started && this.#isPlain()) this.#writer.value(this.#name, JSON.stringify(this.#text));
  }

  /** The text ended within the parameter: writes text that is certain to be a string, without an end. */
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
    // It may be one of several values of this name, which form the array together.
    return declared.allows("array") ? conform(source, declared.item(0)) : source;
  }

  #elements(): string | undefined {
    const quoted = !this.#bare;
    const body = quoted ? this.#text : this.#raw;
    if (!body.trimStart().startsWith("<")) return undefined;
    return elementsSource(body, quoted && this.#wanted !== "structure");
  }

  /** Whether the value is certainly a string, and long enough to be written at once. */
  #isPlain(): boolean {
    return this.#wanted === "text" || (!this.#maybe && this.#length >= WAIT);
  }

  /** Updates `#maybe`. Reads the whole text only while it is short, later only the new part. */
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
