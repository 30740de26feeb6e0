import { endsInCdata, readCdata } from "./cdata.ts";
import { CdataSection } from "./cdata-section.ts";
import { findFlagged, UNIT_FLAGS } from "./characters.ts";
import { EnclosingTags } from "./enclosing-tags.ts";
import { readEntity } from "./entities.ts";
import { MAX_CALL_TAG_LENGTH } from "./grammar.ts";
import type { ParameterValue } from "./parameter-value.ts";
import { readTag, type Tag, type TagKind } from "./tags.ts";
import { AMPERSAND_FLAG, OPENER_FLAG } from "./units.ts";

/**
 * `open`: needs more input. `closed`: the end tag was read. `broken`: the invoke ends without it. `nested`: a call begins
 * within the body where options do not allow that. `unclosed`: a CDATA section in it is never closed, see `recover`.
 */
export type BodyState = "open" | "closed" | "broken" | "nested" | "unclosed";

export interface BodyOptions {
  /** Shells of the enclosing tags. Closing tags with such shells end the body. */
  shells: readonly string[];
  /** CDATA here is known to have no end mark: it ends at the next end tag. */
  hasUnclosedCdata: boolean;
  /** CDATA of a later parameter may show that CDATA here has no end mark. */
  repairable: boolean;
  /** Stop at the beginning of another call. */
  stopsAtCalls: boolean;
}

/** The body of one parameter: text with entities and CDATA, up to the end tag. */
export class ParameterBody {
  readonly #value: ParameterValue;
  readonly #options: BodyOptions;
  readonly #enclosingTags: EnclosingTags;
  #state: BodyState = "open";
  /** A body may contain complete calls as text. These are their tags that are still open. */
  readonly #nested: TagKind[] = [];
  readonly #nestedOf = { tool_calls: 0, invoke: 0, parameter: 0 };
  /** The current CDATA section. */
  #cdata: CdataSection | undefined;
  /** Whether a CDATA section was closed. */
  #hadCdata = false;
  /** Whether the text was cut off, see `Input`. */
  #cut = false;

  constructor(value: ParameterValue, options: BodyOptions) {
    this.#value = value;
    this.#options = options;
    this.#enclosingTags = new EnclosingTags(options.shells);
  }

  get state(): BodyState {
    return this.#state;
  }

  /** Reads from `at`. Returns the index up to which the text was consumed. */
  read(source: string, at: number, final: boolean, isCut: boolean): number {
    this.#cut = isCut;
    let index = at;
    while (this.#state === "open" && index < source.length) {
      const next = this.#cdata
        ? this.#readQuoted(source, index, final, this.#cdata)
        : this.#readText(source, index, final);
      if (next === index) break;
      index = next;
    }
    return index;
  }

  /** The text ended within the body: writes the part that is certain. The value gets no end. */
  leaveOpen(): void {
    this.#value.leaveOpen();
  }

  /**
   * Called when the text ended or the state is `unclosed`: ends an unclosed CDATA at the first end tag within it. Returns
   * the text to read again from there, and the offset in it of the parameter whose CDATA showed that, if any. Undefined if
   * the parameter just ends here.
   */
  recover(): { again: string; reopened: number | undefined } | undefined {
    const recovered = this.#cdata?.recover();
    if (!recovered) return undefined;
    this.#cdata = undefined;
    this.#state = "open";
    return recovered;
  }

  #readText(source: string, at: number, final: boolean): number {
    const index = findFlagged(source, at, OPENER_FLAG | AMPERSAND_FLAG);
    if (index > at) {
      const piece = source.slice(at, index);
      this.#value.add(piece, piece);
      return index;
    }
    if (UNIT_FLAGS[source.charCodeAt(at)] === AMPERSAND_FLAG) {
      const entity = readEntity(source, at, final);
      if (entity === "partial") return at;
      if (entity === "none") return this.#literal(source, at, at + 1);
      this.#value.addDecoded(entity.text, source.slice(at, entity.end));
      return entity.end;
    }
    const cdata = readCdata(source, at, final, this.#value.expectsCdata);
    if (cdata === "partial") return at;
    if (cdata !== "none") {
      const { hasUnclosedCdata, repairable } = this.#options;
      const isCdataOnly = !this.#value.hasTextOutsideCdata;
      this.#value.addCdataMark("<![CDATA[");
      this.#cdata = new CdataSection(this.#value, this.#enclosingTags, {
        isUnclosed: hasUnclosedCdata,
        repairable,
        endsOnlyBeforeTag: isCdataOnly,
      });
      return cdata;
    }
    const tag = readTag(source, at, MAX_CALL_TAG_LENGTH, final);
    if (tag === "partial") return at;
    if (tag === "none" && final && this.#endsInMark(source, at)) return source.length;
    return tag === "none" || !this.#enclosingTags.hasKnownShell(tag)
      ? this.#literal(source, at, at + 1)
      : this.#readNested(source, at, final, tag);
  }

  /** Whether the text ends within an incomplete mark that is not part of the value. */
  #endsInMark(source: string, at: number): boolean {
    const isAfterCdata = this.#hadCdata && !this.#value.hasTextOutsideCdata;
    const closing = this.#enclosingTags.endsInClosingTag(source, at, isAfterCdata ? 1 : 2);
    return closing || (!this.#value.hasTextOutsideCdata && endsInCdata(source, at));
  }

  #literal(source: string, at: number, end: number): number {
    const piece = source.slice(at, end);
    this.#value.add(piece, piece);
    return end;
  }

  #readNested(source: string, at: number, final: boolean, tag: Tag): number {
    if (!tag.isClosing) {
      const calls = tag.kind === "tool_calls" || (tag.kind === "invoke" && tag.name !== undefined);
      if (calls && this.#options.stopsAtCalls) {
        this.#state = "nested";
        return at;
      }
      const isNestedParameter = tag.kind === "parameter" && this.#nested.length > 0;
      if (!tag.isSelfClosing && (calls || isNestedParameter)) {
        this.#nested.push(tag.kind);
        this.#nestedOf[tag.kind]++;
      }
      return this.#literal(source, at, tag.end);
    }
    if (this.#closesNested(tag.kind)) return this.#literal(source, at, tag.end);
    // The first of two `<` belongs to the text before it, unless a CDATA section precedes.
    if (tag.startsWithTwoOpeners && !(this.#hadCdata && !this.#value.hasTextOutsideCdata))
      return this.#literal(source, at, at + 1);
    if (tag.kind === "parameter") {
      this.#state = "closed";
      this.#value.end();
      return tag.end;
    }
    if (tag.kind === "invoke") {
      // If the text was cut off here, the tag may as well be part of the value.
      const isFollowed = this.#enclosingTags.isFollowedBy(source, tag.end, final && !this.#cut, (next) =>
        next.kind === "tool_calls" ? next.isClosing : next.kind === "invoke" && !next.isClosing,
      );
      if (isFollowed === "partial") return at;
      if (isFollowed) {
        this.#state = "broken";
        this.#value.endCut();
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

  #readQuoted(source: string, at: number, final: boolean, section: CdataSection): number {
    const next = section.read(source, at, final);
    const { state } = section;
    if (state === "open") return next;
    if (state === "unclosed") {
      this.#state = state;
      return next;
    }
    this.#cdata = undefined;
    if (state === "closed") this.#hadCdata = true;
    return state === "swallowing" ? this.#readText(source, next, final) : next;
  }
}
