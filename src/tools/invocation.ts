import { ParameterBody } from "./body.ts";
import type { Call } from "./call.ts";
import { OPENER, UNITS } from "./characters.ts";
import { closes, MAX_GARBAGE, opensInvoke, opensParameter, TAG_LIMIT } from "./grammar.ts";
import type { Input } from "./input.ts";
import { readTag, type Tag } from "./tags.ts";

/**
 * The result of reading an invoke. `open`: needs more input. `closed`: the end tag was read. `unclosed`: the tag at the
 * input's position ends it. `lost`: the recorded text does not belong to a call. `over`: the text ended, and only end tags
 * are missing. `cut`: the text ended within the call. `nested`: another call begins within a parameter.
 */
export type Outcome = "open" | "closed" | "unclosed" | "lost" | "over" | "cut" | "nested";

/** Facts about CDATA without an end mark. Positions are offsets in the whole text. */
export interface Unclosed {
  /** The text has ended, so no further CDATA has an end mark. */
  all: boolean;
  /** CDATA of parameters that begin before this offset has no end mark. */
  before: number;
  /** The text up to this offset was already read once. It is not analysed again, so that the time stays linear. */
  known: number;
}

export interface InvocationOptions {
  /** Shells of the invoke and its wrapper. */
  shells: readonly string[];
  /** Shared and updated by all invokes of the text. */
  unclosed: Unclosed;
  /** The invoke has no opening wrapper: it must be without errors, and no call may begin within it. */
  orphan: boolean;
  /** Skips white space and quote marks between tags. */
  skipSpace: (at: number) => number;
}

/** Reads an announced invoke after its opening tag: its parameters, up to its end tag. */
export class Invocation {
  readonly call: Call;
  readonly #input: Input;
  readonly #options: InvocationOptions;
  #body: ParameterBody | undefined;
  #searching = false;
  #malformed = false;

  constructor(call: Call, input: Input, options: InvocationOptions) {
    this.call = call;
    this.#input = input;
    this.#options = options;
  }

  /** Whether it contains unexpected text or tags. */
  get malformed(): boolean {
    return this.#malformed;
  }

  read(): Outcome {
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
  #next(): Outcome | "next" {
    const input = this.#input;
    input.at = this.#options.skipSpace(input.at);
    if (input.done) return input.final ? this.#end() : "open";
    const opens = UNITS[input.text.charCodeAt(input.at)] === OPENER;
    const tag = opens ? readTag(input.text, input.at, TAG_LIMIT, false) : "none";
    if (tag === "partial") {
      if (!input.final) return "open";
      input.at = input.text.length;
      return this.#end();
    }
    if (tag !== "none" && opensParameter(tag)) {
      this.#openParameter(tag);
      return "next";
    }
    if (tag !== "none" && closes(tag, "invoke")) {
      input.at = tag.end;
      return "closed";
    }
    this.#malformed = true;
    if (tag !== "none" && (closes(tag, "tool_calls") || opensInvoke(tag))) return "unclosed";
    if (this.#options.orphan) return "lost";
    input.mark();
    this.#searching = true;
    return "next";
  }

  /** The result when the text ends between parameters. The last parameter is uncertain if its CDATA has no end mark. */
  #end(): Outcome {
    return this.#input.cut || this.#options.unclosed.all ? "cut" : "over";
  }

  #openParameter(tag: Tag): void {
    const value = this.call.value(tag);
    const { unclosed, orphan, shells } = this.#options;
    const { offset } = this.#input;
    this.#input.at = tag.end;
    if (tag.empty) {
      value.end();
      return;
    }
    this.#body = new ParameterBody(value, {
      shells: ["", tag.shell, ...shells],
      loose: unclosed.all || offset < unclosed.before,
      repairable: !orphan && offset >= unclosed.known,
      alone: orphan,
    });
  }

  #readBody(body: ParameterBody): Outcome | "next" {
    const input = this.#input;
    input.at = body.read(input.text, input.at, input.final, input.cut);
    if (body.state === "open") {
      if (!input.final) return "open";
      if (!this.#options.orphan && !input.cut && this.#recover(body)) return "next";
      input.at = input.text.length;
      body.leave();
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
    if (reopened === undefined) unclosed.all = true;
    else unclosed.known = input.offset;
    input.unread(again);
    if (reopened !== undefined) unclosed.before = input.offset + reopened;
    return true;
  }

  /** After unexpected text: searches the next tag of the invoke, and drops the text before it. */
  #search(): Outcome | "next" {
    const input = this.#input;
    for (;;) {
      if (input.recorded > MAX_GARBAGE) return "lost";
      if (input.done) {
        if (!input.final) return "open";
        return input.cut ? "cut" : "lost";
      }
      if (UNITS[input.text.charCodeAt(input.at)] === OPENER) {
        const tag = readTag(input.text, input.at, TAG_LIMIT, input.final);
        if (tag === "partial") return "open";
        if (tag !== "none" && belongs(tag)) {
          input.release();
          this.#searching = false;
          return "next";
        }
      }
      input.at++;
    }
  }
}

function belongs(tag: Tag): boolean {
  return opensParameter(tag) || opensInvoke(tag) || (tag.close && tag.kind !== "parameter");
}
