import type { CallWriter } from "./call-writer.ts";
import { UNIT_FLAGS } from "./characters.ts";
import {
  isClosing,
  isInvokeOpening,
  isParameterOpening,
  MAX_CALL_TAG_LENGTH,
  MAX_UNEXPECTED_TEXT,
} from "./grammar.ts";
import type { InputBuffer } from "./input-buffer.ts";
import { ParameterBody } from "./parameter-body.ts";
import { readTag, type Tag } from "./tags.ts";
import { OPENER_FLAG } from "./units.ts";

/**
 * The result of reading an invoke. `open`: needs more input. `closed`: the end tag was read. `unclosed`: the tag at the
 * input's position ends it. `lost`: the recorded text does not belong to a call. `over`: the text ended, and only end tags
 * are missing. `cut`: the text ended within the call. `nested`: another call begins within a parameter.
 */
export type InvokeResult = "open" | "closed" | "unclosed" | "lost" | "over" | "cut" | "nested";

/** Facts about CDATA without an end mark. Positions are offsets in the whole text. */
export interface UnclosedCdata {
  /** The text has ended, so no further CDATA has an end mark. */
  isAllUnclosed: boolean;
  /** CDATA of parameters that begin before this offset has no end mark. */
  unclosedBefore: number;
  /** The text up to this offset was already read once. It is not analysed again, so that the time stays linear. */
  analysedUpTo: number;
}

export interface InvokeOptions {
  /** Shells of the invoke and its wrapper. */
  shells: readonly string[];
  /** Shared and updated by all invokes of the text. */
  unclosed: UnclosedCdata;
  /** The invoke has no opening wrapper: it must be without errors, and no call may begin within it. */
  hasNoWrapper: boolean;
  /** Skips white space and quote marks between tags. */
  skipSpace: (at: number) => number;
}

/** Reads an announced invoke after its opening tag: its parameters, up to its end tag. */
export class InvokeReader {
  readonly call: CallWriter;
  readonly #input: InputBuffer;
  readonly #options: InvokeOptions;
  #body: ParameterBody | undefined;
  #searching = false;
  #malformed = false;

  constructor(call: CallWriter, input: InputBuffer, options: InvokeOptions) {
    this.call = call;
    this.#input = input;
    this.#options = options;
  }

  /** Whether it contains unexpected text or tags. */
  get malformed(): boolean {
    return this.#malformed;
  }

  read(): InvokeResult {
    for (;;) {
      const outcome = this.#body
        ? this.#readBody(this.#body)
        : this.#searching
          ? this.#search()
          : this.#next();
      if (outcome !== "next") return outcome;
    }
  }

  /** Reads the next tag between parameters. */
  #next(): InvokeResult | "next" {
    const input = this.#input;
    input.at = this.#options.skipSpace(input.at);
    if (input.isConsumed) return input.isFinal ? this.#end() : "open";
    const isOpener = UNIT_FLAGS[input.text.charCodeAt(input.at)] === OPENER_FLAG;
    const tag = isOpener ? readTag(input.text, input.at, MAX_CALL_TAG_LENGTH, false) : "none";
    if (tag === "partial") {
      if (!input.isFinal) return "open";
      input.at = input.text.length;
      return this.#end();
    }
    if (tag !== "none" && isParameterOpening(tag)) {
      this.#openParameter(tag);
      return "next";
    }
    if (tag !== "none" && isClosing(tag, "invoke")) {
      input.at = tag.end;
      return "closed";
    }
    this.#malformed = true;
    if (tag !== "none" && (isClosing(tag, "tool_calls") || isInvokeOpening(tag))) return "unclosed";
    if (this.#options.hasNoWrapper) return "lost";
    input.startRecording();
    this.#searching = true;
    return "next";
  }

  /** The result when the text ends between parameters. The last parameter is uncertain if its CDATA has no end mark. */
  #end(): InvokeResult {
    return this.#input.isCut || this.#options.unclosed.isAllUnclosed ? "cut" : "over";
  }

  #openParameter(tag: Tag): void {
    const value = this.call.beginParameter(tag);
    const { unclosed, hasNoWrapper, shells } = this.#options;
    const { offset } = this.#input;
    this.#input.at = tag.end;
    if (tag.isSelfClosing) {
      value.end();
      return;
    }
    this.#body = new ParameterBody(value, {
      shells: ["", tag.shell, ...shells],
      hasUnclosedCdata: unclosed.isAllUnclosed || offset < unclosed.unclosedBefore,
      repairable: !hasNoWrapper && offset >= unclosed.analysedUpTo,
      stopsAtCalls: hasNoWrapper,
    });
  }

  #readBody(body: ParameterBody): InvokeResult | "next" {
    const input = this.#input;
    input.at = body.read(input.text, input.at, input.isFinal, input.isCut);
    if (body.state === "open") {
      if (!input.isFinal) return "open";
      if (!this.#options.hasNoWrapper && !input.isCut && this.#recover(body)) return "next";
      input.at = input.text.length;
      body.leaveOpen();
      return "cut";
    }
    if (body.state === "unclosed") {
      this.#recover(body);
      return "next";
    }
    if (body.state === "nested") return "nested";
    if (body.state === "broken") this.#malformed = true;
    this.#body = undefined;
    return "next";
  }

  /** Returns to the end of an unclosed CDATA of the body. Returns false if there is none. */
  #recover(body: ParameterBody): boolean {
    const input = this.#input;
    const { unclosed } = this.#options;
    const recovered = body.recover();
    if (!recovered) return false;
    const { again, reopened } = recovered;
    if (reopened === undefined) unclosed.isAllUnclosed = true;
    else unclosed.analysedUpTo = input.offset;
    input.putBack(again);
    if (reopened !== undefined) unclosed.unclosedBefore = input.offset + reopened;
    return true;
  }

  /** After unexpected text: searches the next tag of the invoke, and drops the text before it. */
  #search(): InvokeResult | "next" {
    const input = this.#input;
    for (;;) {
      if (input.recordedLength > MAX_UNEXPECTED_TEXT) return "lost";
      if (input.isConsumed) {
        if (!input.isFinal) return "open";
        return input.isCut ? "cut" : "lost";
      }
      if (UNIT_FLAGS[input.text.charCodeAt(input.at)] === OPENER_FLAG) {
        const tag = readTag(input.text, input.at, MAX_CALL_TAG_LENGTH, input.isFinal);
        if (tag === "partial") return "open";
        if (tag !== "none" && isExpectedTag(tag)) {
          input.endRecording();
          this.#searching = false;
          return "next";
        }
      }
      input.at++;
    }
  }
}

function isExpectedTag(tag: Tag): boolean {
  return isParameterOpening(tag) || isInvokeOpening(tag) || (tag.isClosing && tag.kind !== "parameter");
}
