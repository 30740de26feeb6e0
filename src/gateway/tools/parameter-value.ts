import type { ArgumentsWriter } from "./arguments-writer.ts";
import type { DeclaredSchema } from "./declared-schema.ts";
import { convertElementsToJson } from "./element-conversion.ts";
import { mayBeLiteral, NUMBER_CHARACTERS, parseLiteral } from "./literals.ts";
import { convertToDeclaredTypes, typeAt } from "./type-conversion.ts";

/** Text of an undeclared type is held up to this length, because the parameter may be repeated and become an array. */
const HOLD_CHARS = 128;

/** The type that the request's schema declares for a parameter: exactly a string, an array or object, or anything else. */
export type ExpectedType = "text" | "structure" | "any";

/**
 * The value of one parameter while it arrives. Text is written as soon as it can no longer be a literal. A possible literal
 * or element list is held until the end (docs/contract.md, tool rule 3).
 */
export class ParameterValue {
  readonly #writer: ArgumentsWriter;
  readonly #name: string;
  readonly #expectedType: ExpectedType;
  readonly #declared: DeclaredSchema;
  /** The part of the value that is not written yet. */
  #text = "";
  /** White space that counts only if more text follows. */
  #gap = "";
  #started = false;
  #written = false;
  /** Whether there was text outside CDATA. */
  #hasTextOutsideCdata = false;
  /** The raw body, kept while it may consist of elements. */
  #raw = "";
  /** The last unit of the raw body that is not white space. */
  #lastUnit = "";
  #mayBeLiteral = true;
  /** Length from the first unit that is not white space, and that unit. */
  #length = 0;
  #firstUnit = "";

  constructor(writer: ArgumentsWriter, name: string, expectedType: ExpectedType, schema: DeclaredSchema) {
    this.#writer = writer;
    this.#name = name;
    this.#expectedType = expectedType;
    this.#declared = schema;
    writer.beginParameter(name);
  }

  /** Whether text outside CDATA has begun. */
  get hasTextOutsideCdata(): boolean {
    return this.#hasTextOutsideCdata;
  }

  /** Whether CDATA is expected here: at the start, after other CDATA, and after a tag of an element. */
  get expectsCdata(): boolean {
    if (!this.#hasTextOutsideCdata) return true;
    return (
      this.#expectedType !== "text" && this.#mayBeLiteral && this.#firstUnit === "<" && this.#lastUnit === ">"
    );
  }

  /** Adds text from outside CDATA with entities decoded; `raw` is the original. White space at both ends is dropped. */
  add(text: string, raw: string): void {
    const piece = this.#started ? text : text.trimStart();
    if (piece === "") {
      if (this.#started) this.#keepRaw(raw);
      return;
    }
    this.#hasTextOutsideCdata = true;
    this.#keepRaw(raw);
    const core = piece.trimEnd();
    if (core !== "") this.#append(this.#gap + core);
    this.#gap = core === "" ? this.#gap + piece : piece.slice(core.length);
  }

  /** Adds a character decoded from an entity. It counts even if it is white space. */
  addDecoded(text: string, raw: string): void {
    this.#hasTextOutsideCdata = true;
    this.#keepRaw(raw);
    this.#append(this.#gap + text);
    this.#gap = "";
  }

  /** Adds text from CDATA. White space counts, unless there is nothing else. */
  addVerbatim(text: string): void {
    if (this.#written && this.#gap === "") {
      this.#writer.appendString(this.#name, text);
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
    this.#append(piece);
  }

  /** Adds the marks of a CDATA section to the raw body, where they count only if the body consists of elements. */
  addCdataMark(raw: string): void {
    if (this.#hasTextOutsideCdata) this.#keepRaw(raw);
  }

  /** Ends the complete parameter. */
  end(): void {
    if (this.#written) {
      this.#writer.endString();
      return;
    }
    if (!this.#started) this.#writer.addValue(this.#name, '""');
    else this.#writer.addValue(this.#name, this.#source());
  }

  /** The invoke ended within the parameter: text that was or could have been written is kept, anything else is dropped. */
  endCut(): void {
    if (this.#written) this.#writer.endString();
    else if (this.#started && this.#isPlain()) this.#writer.addValue(this.#name, JSON.stringify(this.#text));
  }

  /** The text ended within the parameter: writes text that is certain to be a string, without an end. */
  leaveOpen(): void {
    if (this.#written || !this.#started || !this.#isPlain() || !this.#writer.canStream(this.#name)) return;
    this.#writer.appendString(this.#name, this.#text);
  }

  #source(): string {
    const text = JSON.stringify(this.#text);
    if (this.#expectedType === "text") return text;
    const source = parseLiteral(this.#text) ?? this.#elements();
    if (source === undefined) return text;
    const schema = this.#declared;
    const kind = typeAt(source[0]);
    if (kind === "null" || schema.allows(kind)) return convertToDeclaredTypes(source, schema);
    if (schema.allows("string")) return text;
    // It may be one of several values of this name, which form the array together.
    return schema.allows("array") ? convertToDeclaredTypes(source, schema.item(0)) : source;
  }

  #elements(): string | undefined {
    const quoted = !this.#hasTextOutsideCdata;
    const body = quoted ? this.#text : this.#raw;
    if (!body.trimStart().startsWith("<")) return undefined;
    return convertElementsToJson(body, quoted && this.#expectedType !== "structure");
  }

  /** Whether the value is certainly a string, and long enough to be written at once. */
  #isPlain(): boolean {
    return this.#expectedType === "text" || (!this.#mayBeLiteral && this.#length >= HOLD_CHARS);
  }

  /** Updates `#mayBeLiteral`. Reads the whole text only while it is short, later only the new part. */
  #updateMayBeLiteral(piece: string): void {
    if (!this.#mayBeLiteral || this.#expectedType === "text") return;
    if (this.#length <= HOLD_CHARS || this.#length === piece.length) {
      const start = this.#text.slice(-this.#length);
      this.#mayBeLiteral = start.startsWith("<") || mayBeLiteral(start);
    } else if (!"{[<".includes(this.#firstUnit)) this.#mayBeLiteral = NUMBER_CHARACTERS.test(piece);
  }

  #keepRaw(raw: string): void {
    if (this.#expectedType === "text" || !this.#mayBeLiteral) return;
    this.#raw += raw;
    this.#lastUnit = raw.trimEnd().at(-1) ?? this.#lastUnit;
  }

  #append(text: string): void {
    let piece = text;
    if (!this.#started) {
      this.#started = true;
      piece = text.trimStart();
      this.#firstUnit = piece[0] ?? " ";
    }
    if (this.#written) {
      this.#writer.appendString(this.#name, text);
      return;
    }
    this.#text += text;
    this.#length += piece.length;
    this.#updateMayBeLiteral(piece);
    if (!this.#isPlain() || !this.#writer.canStream(this.#name)) return;
    this.#written = true;
    this.#writer.appendString(this.#name, this.#text);
    this.#text = "";
  }
}
