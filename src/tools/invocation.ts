import { ParameterBody } from "./body.ts";
import type { Call } from "./call.ts";
import { OPENER, UNITS } from "./characters.ts";
import { closes, MAX_GARBAGE, opensInvoke, opensParameter, TAG_LIMIT } from "./grammar.ts";
import type { Input } from "./input.ts";
import { readTag, type Tag } from "./tags.ts";

/**
 * How reading an invoke comes out. `open`: more is needed. `closed`: its end tag was read. `unclosed`: the tag at the input's
 * place ends it. `lost`: what was recorded does not belong to a call any more. `cut`: the text ended. `nested`: another call
 * begins within a parameter.
 */
export type Outcome = "open" | "closed" | "unclosed" | "lost" | "cut" | "nested";

export interface InvocationOptions {
  /** Shells of the invoke and its wrapper. */
  shells: readonly string[];
  /** Some CDATA of the text is known to be never closed. */
  loose: boolean;
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
  #loose: boolean;

  constructor(call: Call, input: Input, options: InvocationOptions) {
    this.call = call;
    this.#input = input;
    this.#options = options;
    this.#loose = options.loose;
  }

  /** Something within it does not belong there. */
  get malformed(): boolean {
    return this.#malformed;
  }

  /** Some CDATA was never closed. */
  get loose(): boolean {
    return this.#loose;
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
    if (input.done) return input.final ? "cut" : "open";
    const opens = UNITS[input.text.charCodeAt(input.at)] === OPENER;
    const tag = opens ? readTag(input.text, input.at, TAG_LIMIT, false) : "none";
    if (tag === "partial") {
      if (!input.final) return "open";
      input.at = input.text.length;
      return "cut";
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

  #openParameter(tag: Tag): void {
    const value = this.call.value(tag);
    this.#input.at = tag.end;
    if (tag.empty) {
      value.end();
      return;
    }
    this.#body = new ParameterBody(value, {
      shells: ["", tag.shell, ...this.#options.shells],
      loose: this.#loose,
      alone: this.#options.orphan,
    });
  }

  #readBody(body: ParameterBody): Outcome | "next" {
    const input = this.#input;
    input.at = body.read(input.text, input.at, input.final);
    if (body.state === "open") {
      if (!input.final) return "open";
      const again = this.#options.orphan ? undefined : body.recover();
      if (again === undefined) {
        input.at = input.text.length;
        body.cut();
        return "cut";
      }
      this.#loose = true;
      input.unread(again);
      return "next";
    }
    if (body.state === "nested") return "nested";
    if (body.state === "broken") this.#malformed = true;
    this.#body = undefined;
    return "next";
  }

  /** Behind something that does not belong there: looks for the next tag of the invoke, and drops what stands before it. */
  #search(): Outcome | "next" {
    const input = this.#input;
    for (;;) {
      if (input.recorded > MAX_GARBAGE) return "lost";
      if (input.done) return input.final ? "lost" : "open";
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
