import { endsInCdata, readCdata, readCdataEnd } from "./cdata.ts";
import {
  AMPERSAND,
  BACKSLASH,
  BACKTICK,
  BRACKET,
  NEWLINE,
  nextMarked,
  OPENER,
  skipSpace,
  UNITS,
} from "./characters.ts";
import { readEntity } from "./entities.ts";
import { opensParameter, TAG_LIMIT } from "./grammar.ts";
import { Markdown } from "./markdown.ts";
import { endsInClosingTag, isOwnShell, readTag, type Tag, type TagKind } from "./tags.ts";
import type { ParameterValue } from "./value.ts";

/** How far to look behind a tag for what follows it. */
const LOOK_AHEAD = 256;

const QUOTED_MARKS = OPENER | BRACKET | BACKTICK | NEWLINE | BACKSLASH;

/**
 * `open`: more is needed. `closed`: its end tag was read. `broken`: the invoke ends without one. `nested`: a call begins
 * within the body, where the caller allowed none. `unclosed`: CDATA of it is never closed, see `recover`.
 */
export type BodyState = "open" | "closed" | "broken" | "nested" | "unclosed";

export interface BodyOptions {
  /** Shells of the tags around the body, whose closing tags count within it. */
  shells: readonly string[];
  /** CDATA here is known to be never closed: it ends at the next end tag. */
  loose: boolean;
  /** CDATA of a later parameter may show that CDATA here was never closed. */
  repairable: boolean;
  /** Stop where another call begins. */
  alone: boolean;
}

/** CDATA text from the first end tag on, held in case that the CDATA is never closed. */
interface Doubt {
  text: string;
  /** So much of it would belong to the value. */
  kept: number;
  /** So much behind that is an end mark of the CDATA. */
  mark: number;
  /** Where in it the first end tag stands that no parameter within the CDATA accounts for, outside code. */
  end: number | undefined;
  /** Where in it, behind that, the last parameter begins that starts with CDATA of its own. */
  reopened: number | undefined;
}

function doubtFrom(mark: number): Doubt {
  return { text: "", kept: 0, mark, end: undefined, reopened: undefined };
}

/** The body of one parameter: text with entities and CDATA, up to its end tag. */
export class ParameterBody {
  readonly #value: ParameterValue;
  readonly #options: BodyOptions;
  #state: BodyState = "open";
  /** Complete calls may stand in a body as text; these are their tags that are still open. */
  #nested: TagKind[] = [];
  /** Within CDATA: follows its fences. */
  #quoted: Markdown | undefined;
  /** The first CDATA section stands alone so far, so that `]]>` ends it only before a tag. */
  #guarded = false;
  /** A CDATA section was closed. */
  #sections = false;
  /** Parameters that began within the CDATA and are still open. */
  #within = 0;
  /** The text is over within the end tag. */
  #complete = false;
  #doubt: Doubt | undefined;

  constructor(value: ParameterValue, options: BodyOptions) {
    this.#value = value;
    this.#options = options;
  }

  get state(): BodyState {
    return this.#state;
  }

  /** Reads on from `at`; returns the index up to which the text is done with. */
  read(source: string, at: number, final: boolean): number {
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

  /** The text is over within the body: keeps what could have been written by now. */
  cut(): void {
    const closed = this.#sections && !this.#quoted && !this.#value.bare;
    if (this.#complete || closed) this.#value.end();
    else this.#value.cut();
  }

  /**
   * The text is over, or the state is `unclosed`: an unclosed CDATA ends at the first end tag that it swallowed. Returns what
   * must be read again from there, and where in it the parameter begins whose CDATA showed that, if one did. Undefined if
   * the parameter just ends here.
   */
  recover(): { again: string; reopened: number | undefined } | undefined {
    const doubt = this.#doubt;
    if (!doubt) return undefined;
    const shown = this.#state === "unclosed";
    const kept = shown ? (doubt.end ?? 0) : doubt.kept;
    const from = shown ? kept : kept + doubt.mark;
    this.#doubt = undefined;
    this.#quoted = undefined;
    this.#state = "open";
    this.#value.addVerbatim(doubt.text.slice(0, kept));
    const reopened = shown && doubt.reopened !== undefined ? doubt.reopened - from : undefined;
    return { again: doubt.text.slice(from), reopened };
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
      this.#within = 0;
      this.#guarded = !this.#value.bare;
      this.#value.mark("<![CDATA[");
      this.#quoted = new Markdown();
      return cdata;
    }
    const tag = readTag(source, at, TAG_LIMIT, final);
    if (tag === "partial") return at;
    if (tag === "none" && final && this.#isOver(source, at)) return source.length;
    return tag === "none" || !this.#isOwn(tag)
      ? this.#literal(source, at, at + 1)
      : this.#readNested(source, at, final, tag);
  }

  /** Whether the text is over within a mark, nothing of which belongs to the value. */
  #isOver(source: string, at: number): boolean {
    const behind = this.#sections && !this.#quoted && !this.#value.bare;
    const closing = endsInClosingTag(source, at, this.#options.shells, behind ? 1 : 2);
    if (closing === "named") this.#complete = this.#nested.length === 0;
    return closing !== undefined || (!this.#quoted && !this.#value.bare && endsInCdata(source, at));
  }

  #literal(source: string, at: number, end: number): number {
    const piece = source.slice(at, end);
    this.#value.add(piece, piece);
    return end;
  }

  #isOwn(tag: Tag): boolean {
    return this.#options.shells.includes(tag.shell) || isOwnShell(tag.shell);
  }

  #readNested(source: string, at: number, final: boolean, tag: Tag): number {
    if (!tag.close) {
      const calls = tag.kind === "tool_calls" || (tag.kind === "invoke" && tag.name !== undefined);
      if (calls && this.#options.alone) {
        this.#state = "nested";
        return at;
      }
      const within = tag.kind === "parameter" && this.#nested.length > 0;
      if (!tag.empty && (calls || within)) this.#nested.push(tag.kind);
      return this.#literal(source, at, tag.end);
    }
    const partner = this.#nested.lastIndexOf(tag.kind);
    if (partner >= 0) {
      this.#nested.length = partner;
      return this.#literal(source, at, tag.end);
    }
    // The first of two `<` belongs to the text before it, unless that was CDATA.
    if (tag.doubled && !(this.#sections && !this.#value.bare)) return this.#literal(source, at, at + 1);
    if (tag.kind === "parameter") {
      this.#state = "closed";
      this.#value.end();
      return tag.end;
    }
    if (tag.kind === "invoke") {
      const follows = this.#followedBy(source, tag.end, final, (next) =>
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

  /** Whether, after white space, the text ends or a tag follows that is one of ours and suits. */
  #followedBy(source: string, at: number, final: boolean, suits: (tag: Tag) => boolean): boolean | "partial" {
    const next = skipSpace(source, at);
    if (next - at > LOOK_AHEAD) return false;
    if (next === source.length) return final ? true : "partial";
    if (UNITS[source.charCodeAt(next)] !== OPENER) return false;
    const tag = readTag(source, next, TAG_LIMIT, final);
    if (tag === "partial") return tag;
    if (tag === "none") return final && endsInClosingTag(source, next, this.#options.shells, 1) !== undefined;
    return this.#isOwn(tag) && suits(tag);
  }

  #readQuoted(source: string, at: number, final: boolean, quoted: Markdown): number {
    const unit = source.charCodeAt(at);
    const mark = UNITS[unit] ?? 0;
    if (mark === OPENER) return this.#readQuotedTag(source, at, final, quoted);
    if (mark === BRACKET) return this.#readQuotedEnd(source, at, final, quoted);
    let index = at;
    while (index < source.length) {
      if (quoted.plain) {
        const next = nextMarked(source, index, QUOTED_MARKS);
        if (next > index) {
          index = next;
          continue;
        }
      }
      const here = source.charCodeAt(index);
      if (((UNITS[here] ?? 0) & (OPENER | BRACKET)) !== 0) break;
      quoted.step(here);
      index++;
    }
    return this.#keep(source, at, index);
  }

  #readQuotedTag(source: string, at: number, final: boolean, quoted: Markdown): number {
    quoted.settle();
    const tag = readTag(source, at, TAG_LIMIT, final);
    if (tag === "partial") return at;
    if (tag === "none") {
      if (final && !this.#doubt && this.#isOver(source, at)) return source.length;
    } else if (tag.kind === "parameter" && this.#isOwn(tag)) {
      if (tag.close && this.#options.loose) {
        this.#quoted = undefined;
        return this.#readText(source, at, final);
      }
      if (!this.#weigh(tag, quoted.fenced, source, final)) return at;
    }
    return this.#keepStepped(source, at, at + 1, quoted);
  }

  /**
   * Notes what a tag of a parameter within CDATA says about whether the CDATA is closed: if a parameter ends here that did
   * not begin here, and another one follows that starts with CDATA, it is not. Returns false if that takes more text.
   */
  #weigh(tag: Tag, fenced: boolean, source: string, final: boolean): boolean {
    if (tag.close) {
      this.#doubt ??= doubtFrom(0);
      if (fenced) return true;
      if (this.#within > 0) this.#within--;
      else this.#doubt.end ??= this.#doubt.text.length;
    } else if (!fenced && opensParameter(tag) && !tag.empty) {
      if (this.#doubt?.end === undefined) this.#within++;
      else {
        const section = this.#nextSection(source, tag.end, final);
        if (section === "partial") return false;
        if (section) this.#doubt.reopened = this.#doubt.text.length;
      }
    }
    return true;
  }

  #readQuotedEnd(source: string, at: number, final: boolean, quoted: Markdown): number {
    const mark = readCdataEnd(source, at, final);
    if (mark === "partial") return at;
    if (mark === "none") return this.#keepStepped(source, at, at + 1, quoted);
    const { kind, end } = mark;
    quoted.settle();
    const closing = this.#followedBy(source, end, final, (tag) => tag.close && tag.kind === "parameter");
    if (closing === "partial") return at;
    if (kind === "half") {
      if (closing) this.#doubt ??= doubtFrom(end - at);
      return this.#keepStepped(source, at, end, quoted);
    }
    if (quoted.fenced && !this.#options.loose) {
      if (closing) {
        this.#doubt ??= doubtFrom(0);
        if (this.#doubt.mark < 3) {
          this.#doubt.kept = this.#doubt.text.length;
          this.#doubt.mark = end - at;
        }
      }
      return this.#keepStepped(source, at, end, quoted);
    }
    const section = this.#nextSection(source, end, final);
    if (section === "partial") return at;
    if (
      !closing &&
      !section &&
      (kind === "drifted" || (this.#guarded && !this.#endsInvoke(source, end, final)))
    ) {
      return this.#keepStepped(source, at, kind === "drifted" ? at + 1 : end, quoted);
    }
    if (closing && this.#options.repairable && this.#doubt?.reopened !== undefined) {
      this.#state = "unclosed";
      return at;
    }
    this.#certain();
    this.#value.mark("]]>");
    this.#quoted = undefined;
    this.#sections = true;
    return end;
  }

  /** Whether CDATA follows, as when a text that holds `]]>` was split in two. */
  #nextSection(source: string, at: number, final: boolean): boolean | "partial" {
    const next = skipSpace(source, at);
    if (next - at > LOOK_AHEAD) return false;
    if (next === source.length) return final ? false : "partial";
    const cdata = readCdata(source, next, final, true);
    return cdata === "partial" ? cdata : cdata !== "none";
  }

  #endsInvoke(source: string, at: number, final: boolean): boolean {
    return this.#followedBy(source, at, final, (tag) => tag.close) === true;
  }

  #keepStepped(source: string, at: number, end: number, quoted: Markdown): number {
    quoted.feed(source, at, end);
    return this.#keep(source, at, end);
  }

  /** Adds CDATA text, or holds it while there is doubt whether it still belongs to the parameter. */
  #keep(source: string, at: number, end: number): number {
    const piece = source.slice(at, end);
    if (this.#doubt) this.#doubt.text += piece;
    else this.#value.addVerbatim(piece);
    return end;
  }

  #certain(): void {
    if (!this.#doubt) return;
    this.#value.addVerbatim(this.#doubt.text);
    this.#doubt = undefined;
  }
}
