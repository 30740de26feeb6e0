import { endsInCdata, readCdata } from "./cdata.ts";
import { AMPERSAND, nextMarked, OPENER, UNITS } from "./characters.ts";
import { readEntity } from "./entities.ts";
import { TAG_LIMIT } from "./grammar.ts";
import { QuotedText } from "./quoted.ts";
import { Surroundings } from "./surroundings.ts";
import { readTag, type Tag, type TagKind } from "./tags.ts";
import type { ParameterValue } from "./value.ts";

/**
 * `open`: needs more input. `closed`: the end tag was read. `broken`: the invoke ends without it. `nested`: a call begins
 * within the body where options do not allow that. `unclosed`: a CDATA section in it is never closed, see `recover`.
 */
export type BodyState = "open" | "closed" | "broken" | "nested" | "unclosed";

export interface BodyOptions {
  /** Shells of the enclosing tags. Closing tags with such shells end the body. */
  shells: readonly string[];
  /** CDATA here is known to have no end mark: it ends at the next end tag. */
  loose: boolean;
  /** CDATA of a later parameter may show that CDATA here has no end mark. */
  repairable: boolean;
  /** Stop at the beginning of another call. */
  alone: boolean;
}

/** The body of one parameter: text with entities and CDATA, up to the end tag. */
export class ParameterBody {
  readonly #value: ParameterValue;
  readonly #options: BodyOptions;
  readonly #around: Surroundings;
  #state: BodyState = "open";
  /** A body may contain complete calls as text. These are their tags that are still open. */
  readonly #nested: TagKind[] = [];
  readonly #nestedOf = { tool_calls: 0, invoke: 0, parameter: 0 };
  /** The current CDATA section. */
  #quoted: QuotedText | undefined;
  /** Whether a CDATA section was closed. */
  #sections = false;
  /** Whether the text was cut off, see `Input`. */
  #cut = false;

  constructor(value: ParameterValue, options: BodyOptions) {
    this.#value = value;
    this.#options = options;
    this.#around = new Surroundings(options.shells);
  }

  get state(): BodyState {
    return this.#state;
  }

  /** Reads from `at`. Returns the index up to which the text was consumed. */
  read(source: string, at: number, final: boolean, cut: boolean): number {
    this.#cut = cut;
    let index = at;
    while (this.#state === "open" && index < source.length) {
      const next = this.#quoted
        ? this.#readQuoted(source, index, final, this.#quoted)
        : this.#readText(source, index, final);
      if (next === index) break;
      index = next;
    }
    return index;
  }

  /** The text ended within the body: writes the part that is certain. The value gets no end. */
  leave(): void {
    this.#value.leave();
  }

  /**
   * Called when the text ended or the state is `unclosed`: ends an unclosed CDATA at the first end tag within it. Returns
   * the text to read again from there, and the offset in it of the parameter whose CDATA showed that, if any. Undefined if
   * the parameter just ends here.
   */
  recover(): { again: string; reopened: number | undefined } | undefined {
    const recovered = this.#quoted?.recover();
    if (!recovered) return undefined;
    this.#quoted = undefined;
    this.#state = "open";
    return recovered;
  }

  #readText(source: string, at: number, final: boolean): number {
    const index = nextMarked(source, at, OPENER | AMPERSAND);
    if (index > at) {
      const piece = source.slice(at, index);
      this.#value.add(piece, piece);
      return index;
    }
    if (UNITS[source.charCodeAt(at)] === AMPERSAND) {
      const entity = readEntity(source, at, final);
      if (entity === "partial") return at;
      if (entity === "none") return this.#literal(source, at, at + 1);
      this.#value.addDecoded(entity.text, source.slice(at, entity.end));
      return entity.end;
    }
    const cdata = readCdata(source, at, final, this.#value.expectsCdata);
    if (cdata === "partial") return at;
    if (cdata !== "none") {
      const { loose, repairable } = this.#options;
      const guarded = !this.#value.bare;
      this.#value.mark("<![CDATA[");
      this.#quoted = new QuotedText(this.#value, this.#around, { loose, repairable, guarded });
      return cdata;
    }
    const tag = readTag(source, at, TAG_LIMIT, final);
    if (tag === "partial") return at;
    if (tag === "none" && final && this.#isOver(source, at)) return source.length;
    return tag === "none" || !this.#around.owns(tag)
      ? this.#literal(source, at, at + 1)
      : this.#readNested(source, at, final, tag);
  }

  /** Whether the text ends within an incomplete mark that is not part of the value. */
  #isOver(source: string, at: number): boolean {
    const behind = this.#sections && !this.#value.bare;
    const closing = this.#around.endsInClosingTag(source, at, behind ? 1 : 2);
    return closing || (!this.#value.bare && endsInCdata(source, at));
  }

  #literal(source: string, at: number, end: number): number {
    const piece = source.slice(at, end);
    this.#value.add(piece, piece);
    return end;
  }

  #readNested(source: string, at: number, final: boolean, tag: Tag): number {
    if (!tag.close) {
      const calls = tag.kind === "tool_calls" || (tag.kind === "invoke" && tag.name !== undefined);
      if (calls && this.#options.alone) {
        this.#state = "nested";
        return at;
      }
      const within = tag.kind === "parameter" && this.#nested.length > 0;
      if (!tag.empty && (calls || within)) {
        this.#nested.push(tag.kind);
        this.#nestedOf[tag.kind]++;
      }
      return this.#literal(source, at, tag.end);
    }
    if (this.#closesNested(tag.kind)) return this.#literal(source, at, tag.end);
    // The first of two `<` belongs to the text before it, unless a CDATA section precedes.
    if (tag.doubled && !(this.#sections && !this.#value.bare)) return this.#literal(source, at, at + 1);
    if (tag.kind === "parameter") {
      this.#state = "closed";
      this.#value.end();
      return tag.end;
    }
    if (tag.kind === "invoke") {
      // If the text was cut off here, the tag may as well be part of the value.
      const follows = this.#around.followedBy(source, tag.end, final && !this.#cut, (next) =>
        next.kind === "tool_calls" ? next.close : next.kind === "invoke" && !next.close,
      );
      if (follows === "partial") return at;
      if (follows) {
        this.#state = "broken";
        this.#value.cut();
        return at;
      }
    }
    return this.#literal(source, at, tag.end);
  }

  /** Closes the last open nested tag of a kind, and the tags within it. */
  #closesNested(kind: TagKind): boolean {
    if (this.#nestedOf[kind] === 0) return false;
    for (let last = this.#nested.pop(); last !== undefined; last = this.#nested.pop()) {
      this.#nestedOf[last]--;
      if (last === kind) break;
    }
    return true;
  }

  #readQuoted(source: string, at: number, final: boolean, quoted: QuotedText): number {
    const next = quoted.read(source, at, final);
    const { state } = quoted;
    if (state === "open") return next;
    if (state === "unclosed") {
      this.#state = state;
      return next;
    }
    this.#quoted = undefined;
    if (state === "closed") this.#sections = true;
    return state === "swallowing" ? this.#readText(source, next, final) : next;
  }
}
