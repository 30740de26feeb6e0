import {
  AMPERSAND,
  BACKSLASH,
  BACKTICK,
  BRACKET,
  fold,
  NEWLINE,
  nextMarked,
  OPENER,
  skipSpace,
  UNITS,
} from "./characters.ts";
import { readEntity } from "./entities.ts";
import { TAG_LIMIT } from "./grammar.ts";
import { Markdown } from "./markdown.ts";
import { isOwnShell, readCdata, readTag, type Tag, type TagKind } from "./tags.ts";
import type { ParameterValue } from "./value.ts";

/** How far to look behind a tag for what follows it. */
const LOOK_AHEAD = 256;

const QUOTED_MARKS = OPENER | BRACKET | BACKTICK | NEWLINE | BACKSLASH;

/**
 * `open`: more is needed. `closed`: its end tag was read. `broken`: the invoke ends without one. `nested`: a call begins
 * within the body, where the caller allowed none.
 */
export type BodyState = "open" | "closed" | "broken" | "nested";

export interface BodyOptions {
  /** Shells of the tags around the body, whose closing tags count within it. */
  shells: readonly string[];
  /** The end of text showed that no CDATA is properly closed any more: it ends at the next end tag. */
  loose: boolean;
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
    this.#value.cut();
  }

  /**
   * The text is over. Returns what must be read again because an unclosed CDATA had swallowed it, or undefined if the
   * parameter just ends here.
   */
  recover(): string | undefined {
    const doubt = this.#doubt;
    if (!doubt) return undefined;
    this.#doubt = undefined;
    this.#quoted = undefined;
    this.#value.addVerbatim(doubt.text.slice(0, doubt.kept));
    return doubt.text.slice(doubt.kept + doubt.mark);
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
    const cdata = readCdata(source, at, final);
    if (cdata === "partial") return at;
    if (cdata !== "none") {
      this.#guarded = !this.#value.bare;
      this.#value.mark("<![CDATA[");
      this.#quoted = new Markdown();
      return cdata;
    }
    const tag = readTag(source, at, TAG_LIMIT, final);
    if (tag === "partial") return at;
    return tag === "none" || !this.#isOwn(tag)
      ? this.#literal(source, at, at + 1)
      : this.#readNested(source, at, final, tag);
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
    if (typeof tag === "string") return tag === "partial" ? tag : false;
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
    if (tag !== "none" && tag.close && tag.kind === "parameter" && this.#isOwn(tag)) {
      if (this.#options.loose) {
        this.#quoted = undefined;
        return at;
      }
      this.#doubt ??= { text: "", kept: 0, mark: 0 };
    }
    return this.#keepStepped(source, at, at + 1, quoted);
  }

  #readQuotedEnd(source: string, at: number, final: boolean, quoted: Markdown): number {
    const second = source.charCodeAt(at + 1);
    const third = source.codePointAt(at + 2);
    if (Number.isNaN(second) || (third === undefined && UNITS[second] === BRACKET)) {
      return final ? this.#keepStepped(source, at, at + 1, quoted) : at;
    }
    const sign = UNITS[second] === BRACKET && third !== undefined ? fold(third) : "";
    if (sign !== ">" && sign !== "<") return this.#keepStepped(source, at, at + 1, quoted);
    const end = sign === ">" ? at + 3 : at + 2;
    quoted.settle();
    const closing = this.#followedBy(source, end, final, (tag) => tag.close && tag.kind === "parameter");
    if (closing === "partial") return at;
    if (sign === "<") {
      if (closing) this.#doubt ??= { text: "", kept: 0, mark: 2 };
      return this.#keepStepped(source, at, end, quoted);
    }
    if (quoted.fenced && !this.#options.loose) {
      if (closing) {
        this.#doubt ??= { text: "", kept: 0, mark: 0 };
        if (this.#doubt.mark < 3) {
          this.#doubt.kept = this.#doubt.text.length;
          this.#doubt.mark = 3;
        }
      }
      return this.#keepStepped(source, at, end, quoted);
    }
    const section = this.#nextSection(source, end, final);
    if (section === "partial") return at;
    if (!closing && !section && this.#guarded && !this.#endsInvoke(source, end, final)) {
      return this.#keepStepped(source, at, end, quoted);
    }
    this.#certain();
    this.#value.mark("]]>");
    this.#quoted = undefined;
    this.#sections = true;
    return end;
  }

  /** Whether another CDATA section follows, as when a text that holds `]]>` was split in two. */
  #nextSection(source: string, at: number, final: boolean): boolean | "partial" {
    const next = skipSpace(source, at);
    const cdata = next < source.length ? readCdata(source, next, final) : "none";
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
