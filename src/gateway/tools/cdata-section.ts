import { readCdataEnd } from "./cdata.ts";
import { findFlagged, UNIT_FLAGS } from "./characters.ts";
import type { EnclosingTags } from "./enclosing-tags.ts";
import { isClosing, isParameterOpening, MAX_CALL_TAG_LENGTH } from "./grammar.ts";
import { MarkdownTracker } from "./markdown-tracker.ts";
import type { ParameterValue } from "./parameter-value.ts";
import { readTag, type Tag } from "./tags.ts";
import { BACKSLASH_FLAG, BACKTICK_FLAG, BRACKET_FLAG, LINE_FEED_FLAG, OPENER_FLAG } from "./units.ts";

const MARKS = OPENER_FLAG | BRACKET_FLAG | BACKTICK_FLAG | LINE_FEED_FLAG | BACKSLASH_FLAG;

/**
 * `open`: needs more input. `closed`: the end mark was read. `swallowing`: it ends here although it has no end mark.
 * `unclosed`: it ended earlier, see `recover`. `over`: the text ended within an end tag.
 */
export type CdataState = "open" | "closed" | "swallowing" | "unclosed" | "over";

export interface CdataOptions {
  /** It is known to have no end mark: it ends at the next end tag. */
  isUnclosed: boolean;
  /** CDATA of a later parameter may show that this one has no end mark. */
  repairable: boolean;
  /** Nothing but CDATA precedes it in the body, so `]]>` ends it only before a tag. */
  endsOnlyBeforeTag: boolean;
}

/** CDATA text from the first end tag on. It is held because the CDATA may have no end mark. */
interface HeldCdata {
  text: string;
  /** Length of its part that would belong to the value. */
  kept: number;
  /** Length of the CDATA end mark after that part. */
  mark: number;
  /** Offset in it of the first end tag outside code that closes no parameter within the CDATA. */
  end: number | undefined;
  /** Offset in it, after that end tag, of the last parameter that starts with its own CDATA. */
  reopened: number | undefined;
}

function createHeldCdata(mark: number): HeldCdata {
  return { text: "", kept: 0, mark, end: undefined, reopened: undefined };
}

/** One CDATA section of a parameter, after its opening. */
export class CdataSection {
  readonly #value: ParameterValue;
  readonly #enclosingTags: EnclosingTags;
  readonly #options: CdataOptions;
  #state: CdataState = "open";
  /** Tracks the code fences in it. */
  #markdown = new MarkdownTracker();
  /** The number of open parameters that began within it. */
  #openParameters = 0;
  #heldText: HeldCdata | undefined;

  constructor(value: ParameterValue, enclosingTags: EnclosingTags, options: CdataOptions) {
    this.#value = value;
    this.#enclosingTags = enclosingTags;
    this.#options = options;
  }

  get state(): CdataState {
    return this.#state;
  }

  /** Reads from `at`. Returns the index up to which the text was consumed. */
  read(source: string, at: number, final: boolean): number {
    let index = at;
    while (this.#state === "open" && index < source.length) {
      const next = this.#step(source, index, final);
      if (next === index) break;
      index = next;
    }
    return index;
  }

  /**
   * Called when the text ended or the state is `unclosed`: ends the CDATA at the first end tag within it. Returns the text
   * to read again from there, and the offset in it of the parameter whose CDATA showed that, if any. Undefined if no end
   * tag is within it.
   */
  recover(): { again: string; reopened: number | undefined } | undefined {
    const heldText = this.#heldText;
    if (!heldText) return undefined;
    const isUnclosed = this.#state === "unclosed";
    const marked = heldText.kept + heldText.mark;
    const from = isUnclosed ? (heldText.end ?? marked) : marked;
    this.#value.addVerbatim(heldText.text.slice(0, from === marked ? heldText.kept : from));
    const reopened = isUnclosed && heldText.reopened !== undefined ? heldText.reopened - from : undefined;
    return { again: heldText.text.slice(from), reopened };
  }

  #step(source: string, at: number, final: boolean): number {
    const markdown = this.#markdown;
    const unit = source.charCodeAt(at);
    const flags = UNIT_FLAGS[unit] ?? 0;
    if (flags === OPENER_FLAG) return this.#readTag(source, at, final);
    if (flags === BRACKET_FLAG) return this.#readEnd(source, at, final);
    let index = at;
    while (index < source.length) {
      if (markdown.isPlainText) {
        const next = findFlagged(source, index, MARKS);
        if (next > index) {
          index = next;
          continue;
        }
      }
      const nextUnit = source.charCodeAt(index);
      if (((UNIT_FLAGS[nextUnit] ?? 0) & (OPENER_FLAG | BRACKET_FLAG)) !== 0) break;
      markdown.step(nextUnit);
      index++;
    }
    return this.#keep(source, at, index);
  }

  #readTag(source: string, at: number, final: boolean): number {
    const markdown = this.#markdown;
    markdown.resolvePending();
    const tag = readTag(source, at, MAX_CALL_TAG_LENGTH, final);
    if (tag === "partial") return at;
    if (tag === "none") {
      if (final && !this.#heldText && this.#enclosingTags.endsInClosingTag(source, at, 2)) {
        this.#state = "over";
        return source.length;
      }
    } else if (tag.kind === "parameter" && this.#enclosingTags.hasKnownShell(tag)) {
      if (tag.isClosing && this.#options.isUnclosed) {
        this.#state = "swallowing";
        return at;
      }
      if (!this.#checkParameterTag(tag, markdown.isInFence, source, final)) return at;
    }
    return this.#keepStepped(source, at, at + 1);
  }

  /**
   * Evaluates a parameter tag within CDATA for signs that the CDATA has no end mark: a parameter ends that did not begin
   * within it, and another one follows that starts with CDATA. Returns false if more text is needed to decide.
   */
  #checkParameterTag(tag: Tag, fenced: boolean, source: string, final: boolean): boolean {
    if (tag.isClosing) {
      this.#heldText ??= createHeldCdata(0);
      if (fenced) return true;
      if (this.#openParameters > 0) this.#openParameters--;
      else this.#heldText.end ??= this.#heldText.text.length;
    } else if (!fenced && isParameterOpening(tag) && !tag.isSelfClosing) {
      if (this.#heldText?.end === undefined) this.#openParameters++;
      else {
        const section = this.#enclosingTags.isFollowedByCdata(source, tag.end, final);
        if (section === "partial") return false;
        if (section) this.#heldText.reopened = this.#heldText.text.length;
      }
    }
    return true;
  }

  #readEnd(source: string, at: number, final: boolean): number {
    const markdown = this.#markdown;
    const cdataEnd = readCdataEnd(source, at, final);
    if (cdataEnd === "partial") return at;
    if (cdataEnd === "none") return this.#keepStepped(source, at, at + 1);
    const { kind, end } = cdataEnd;
    markdown.resolvePending();
    const closing = this.#enclosingTags.isFollowedBy(source, end, final, (tag) =>
      isClosing(tag, "parameter"),
    );
    if (closing === "partial") return at;
    if (kind === "half") {
      if (closing) this.#heldText ??= createHeldCdata(end - at);
      return this.#keepStepped(source, at, end);
    }
    if (markdown.isInFence && !this.#options.isUnclosed) {
      if (closing) {
        this.#heldText ??= createHeldCdata(0);
        if (this.#heldText.mark < 3) {
          this.#heldText.kept = this.#heldText.text.length;
          this.#heldText.mark = end - at;
        }
      }
      return this.#keepStepped(source, at, end);
    }
    const section = this.#enclosingTags.isFollowedByCdata(source, end, final);
    if (section === "partial") return at;
    if (!closing && !section) {
      const text =
        kind === "drifted" || (this.#options.endsOnlyBeforeTag && !this.#beforeEndTag(source, end, final));
      if (text) return this.#keepStepped(source, at, end);
    }
    if (closing && this.#options.repairable && this.#heldText?.reopened !== undefined) {
      this.#state = "unclosed";
      return at;
    }
    this.#releaseHeldText();
    this.#value.addCdataMark("]]>");
    this.#state = "closed";
    return end;
  }

  #beforeEndTag(source: string, at: number, final: boolean): boolean {
    return this.#enclosingTags.isFollowedBy(source, at, final, (tag) => tag.isClosing) === true;
  }

  #keepStepped(source: string, at: number, end: number): number {
    this.#markdown.feed(source, at, end);
    return this.#keep(source, at, end);
  }

  /** Adds CDATA text to the value, or holds it while it is uncertain whether it belongs to the parameter. */
  #keep(source: string, at: number, end: number): number {
    const piece = source.slice(at, end);
    if (this.#heldText) this.#heldText.text += piece;
    else this.#value.addVerbatim(piece);
    return end;
  }

  #releaseHeldText(): void {
    if (!this.#heldText) return;
    this.#value.addVerbatim(this.#heldText.text);
    this.#heldText = undefined;
  }
}
