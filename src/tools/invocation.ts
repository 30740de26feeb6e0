import { ParameterBody } from "./body.ts";
import type { Call } from "./call.ts";
import { OPENER, UNITS } from "./characters.ts";
import { closes, MAX_GARBAGE, opensInvoke, opensParameter, TAG_LIMIT } from "./grammar.ts";
import type { Input } from "./input.ts";
import { readTag, type Tag } from "./tags.ts";

/**
 * How reading an invoke comes out. `open`: more is needed. `closed`: its end tag was read. `unclosed`: the tag at the input's
 * place ends it. `lost`: what was recorded does not belong to a call any more. `over`: the text ended by itself, and nothing but
 * end tags is missing. `cut`: the text ended, and what it says of the call is not all. `nested`: another call begins within a
 * parameter.
 */
export type Outcome = "open" | "closed" | "unclosed" | "lost" | "over" | "cut" | "nested";

/** What is known of CDATA that is never closed; places are offsets in the whole text. */
export interface Unclosed {
  /** The text is over: no CDATA is properly closed any more. */
  all: boolean;
  /** That of parameters which begin before this place is never closed. */
  before: number;
  /** Up to here the text was read once already, and nothing more is to be found out; so the time stays linear. */
  known: number;
}

export interface InvocationOptions {
  /** Shells of the invoke and its wrapper. */
  shells: readonly string[];
  /** Shared by all invokes of the text, and kept by them. */
  unclosed: Unclosed;
  /** The invoke has no wrapper: it must be flawless, and no call may begin within it. */
  orphan: boolean;
  /** Skips what may stand between tags. */
  skipSpace: (at: number) => number;
}

/** Reads an announced invoke from behind its opening tag: parameters, up to its end tag. */
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

  /** Something within it does not belong there. */
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

  /** Between parameters. */
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

  /** The text is over between parameters. That the last one is complete is not sure if its CDATA was never closed. */
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

  /** Goes back to where an unclosed CDATA of the body ends; returns false if there is none. */
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

  /** Behind something that does not belong there: looks for the next tag of the invoke, and drops what stands before it. */
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
