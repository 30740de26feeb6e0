import { Call, type Catalogue } from "./call.ts";
import { OPENER, skipSpace, UNITS } from "./characters.ts";
import { closes, HOLD, MAX_GARBAGE, opensInvoke, opensParameter, TAG_LIMIT } from "./grammar.ts";
import type { Input } from "./input.ts";
import { Invocation, type Unclosed } from "./invocation.ts";
import { JsonBody } from "./json-body.ts";
import { Markdown } from "./markdown.ts";
import type { Output } from "./output.ts";
import { passText } from "./plain-text.ts";
import { SpanWatch } from "./span-watch.ts";
import { readTag, type Tag } from "./tags.ts";

const BRACE = 0x7b;
const GREATER = 0x3e;

type State =
  | "text"
  /** After an opening wrapper: an invoke must follow. */
  | "wrapper"
  /** After an invoke that is not announced yet, or within its JSON body. */
  | "invoke"
  | "json"
  /** A call could be announced here, unless it is within a code span that is not closed yet. */
  | "span"
  /** Within an announced invoke. */
  | "call"
  /** After an invoke: another one or the closing wrapper follows. */
  | "invokes";

/**
 * The grammar of the tool markup as a push parser (contract, Tool calling rules): consumes the input as far as its meaning
 * is certain, writes events, and stops. A call is announced once its wrapper, its invoke and either its first parameter or
 * its end tag are complete outside code. Until then all of it can still become text.
 *
 * The class is long because its states lead to each other and are easier to read together.
 */
export class Automaton {
  readonly #input: Input;
  readonly #output: Output;
  readonly #catalogue: Catalogue;
  readonly #whole: boolean;
  #state: State = "text";
  #markdown = new Markdown();
  #span: SpanWatch | undefined;
  #json: JsonBody | undefined;
  #invocation: Invocation | undefined;
  /** Name of the invoke; shells of the invoke and its wrapper. */
  #name = "";
  #wrapperShell = "";
  #invokeShell = "";
  /** Text followed a call although the wrapper is still open. Its remaining end tags are removed. */
  #loose: "none" | "wrapper" | "invoke" = "none";
  /** A wrapper with invalid content was treated as text. Invokes within it are not calls without a wrapper either. */
  #refused = false;
  /** Reading an invoke without an opening wrapper. It counts only if a closing wrapper follows. */
  #orphan = false;
  /** Before this offset no such invoke is tried, because an attempt has failed. */
  #guard = 0;
  readonly #unclosed: Unclosed = { all: false, before: 0, known: 0 };
  /** Whether something within the wrapper is malformed. */
  #bad = false;
  #start = { offset: 0, saved: { length: 0, next: 0 }, markdown: new Markdown() };

  constructor(input: Input, output: Output, catalogue: Catalogue, whole: boolean) {
    this.#input = input;
    this.#output = output;
    this.#catalogue = catalogue;
    this.#whole = whole;
  }

  /** Consumes the input as far as its meaning is certain. */
  run(): void {
    while (this.#step());
  }

  /** Stops parsing: a call that is still open gets no end. */
  abandon(): void {
    if (this.#orphan) this.#output.drop();
    else this.#invocation?.call.leave();
    this.#invocation = undefined;
  }

  #step(): boolean {
    switch (this.#state) {
      case "text":
        return this.#text();
      case "wrapper":
        return this.#wrapper();
      case "invoke":
        return this.#invoke();
      case "json":
        return this.#jsonBody();
      case "span":
        return this.#inSpan();
      case "call":
        return this.#inCall();
      case "invokes":
        return this.#invokes();
    }
  }

  #text(): boolean {
    const tag = passText(this.#input, this.#output, this.#markdown, this.#accepts);
    if (tag) this.#enter(tag);
    return tag !== undefined;
  }

  /** Skips white space and block quote marks between tags. */
  #skipSpace(from: number): number {
    const { text } = this.#input;
    let at = skipSpace(text, from);
    while (this.#markdown.quoted && text.charCodeAt(at) === GREATER) at = skipSpace(text, at + 1);
    return at;
  }

  /** Whether a complete tag in text affects the state. */
  readonly #accepts = (tag: Tag, offset: number): boolean => {
    if (tag.kind === "tool_calls") {
      if (tag.close && this.#loose === "none") this.#refused = false;
      return tag.close ? this.#loose !== "none" : !tag.empty;
    }
    if (tag.close) return this.#loose === "invoke";
    if (!opensInvoke(tag)) return false;
    return this.#loose !== "none" || (!this.#refused && offset >= this.#guard);
  };

  #enter(tag: Tag): void {
    const input = this.#input;
    if (tag.close) {
      input.at += tag.end - input.at;
      if (tag.kind === "tool_calls") this.#endWrapper();
      else if (tag.kind === "invoke") this.#loose = "wrapper";
      return;
    }
    input.mark();
    if (tag.kind === "tool_calls") {
      this.#begin();
      this.#wrapperShell = tag.shell;
      input.at = tag.end;
      this.#state = "wrapper";
      return;
    }
    if (this.#loose === "none") {
      this.#begin();
      this.#orphan = true;
      this.#wrapperShell = tag.shell;
      this.#output.guess();
    }
    this.#openInvoke(tag);
  }

  #begin(): void {
    this.#bad = false;
    this.#refused = false;
    if (!this.#whole) return;
    this.#start = {
      offset: this.#input.offset,
      saved: this.#output.save(),
      markdown: this.#markdown.clone(),
    };
  }

  /** Treats the held input as text. */
  #refuse(refused: boolean): boolean {
    if (this.#orphan) return this.#fail();
    const raw = this.#input.release();
    this.#output.text(raw);
    this.#markdown.feed(raw);
    this.#bad = true;
    this.#refused = refused;
    this.#state = "text";
    return true;
  }

  /** Discards an invoke without a wrapper: its input is read again as text. */
  #fail(): boolean {
    this.#output.drop();
    this.#guard = this.#input.offset;
    this.#input.rewind();
    this.#orphan = false;
    this.#invocation = undefined;
    this.#state = "text";
    return true;
  }

  #wrapper(): boolean {
    const input = this.#input;
    input.at = this.#skipSpace(input.at);
    if (input.recorded > HOLD) return this.#refuse(false);
    if (input.done) return input.final ? this.#refuse(false) : false;
    if (UNITS[input.text.charCodeAt(input.at)] !== OPENER) return this.#refuse(false);
    const tag = readTag(input.text, input.at, TAG_LIMIT, input.final);
    if (tag === "partial") return false;
    if (tag === "none" || !opensInvoke(tag)) return this.#refuse(true);
    this.#openInvoke(tag);
    return true;
  }

  #openInvoke(tag: Tag): void {
    this.#name = tag.name ?? "";
    this.#invokeShell = tag.shell;
    this.#input.at = tag.end;
    this.#state = "invoke";
    if (tag.empty) this.#announce("{}");
  }

  #invoke(): boolean {
    const input = this.#input;
    const at = this.#skipSpace(input.at);
    if (at - input.at > MAX_GARBAGE) return this.#refuse(true);
    if (at === input.text.length) return input.final ? this.#refuse(true) : false;
    const unit = input.text.charCodeAt(at);
    if (unit === BRACE) {
      input.at = at;
      this.#json = new JsonBody(this.#catalogue.parameters(this.#name));
      this.#state = "json";
      return true;
    }
    if (UNITS[unit] !== OPENER) return this.#refuse(true);
    const tag = readTag(input.text, at, TAG_LIMIT, input.final);
    if (tag === "partial") return false;
    if (tag === "none" || !(opensParameter(tag) || closes(tag, "invoke"))) return this.#refuse(true);
    input.at = at;
    this.#announce();
    return true;
  }

  #jsonBody(): boolean {
    const result = this.#json?.read(this.#input) ?? "refused";
    if (result === "open") return false;
    if (result === "refused") return this.#refuse(true);
    this.#announce(result.source);
    return true;
  }

  /**
   * Announces the call, unless it may be within a code span; then more text is read to decide.
   * @param source The arguments, if the invoke was read to its end.
   */
  #announce(source?: string): void {
    if (!this.#orphan) {
      if (this.#suspectSpan()) return;
      this.#input.release();
    }
    this.#loose = "none";
    const call = new Call(this.#output, this.#catalogue, this.#name, this.#whole);
    if (source !== undefined) {
      call.endWith(source);
      this.#endInvoke();
      return;
    }
    this.#invocation = new Invocation(call, this.#input, {
      shells: [this.#invokeShell, this.#wrapperShell],
      unclosed: this.#unclosed,
      orphan: this.#orphan,
      skipSpace: (at) => this.#skipSpace(at),
    });
    this.#state = "call";
  }

  #suspectSpan(): boolean {
    if (this.#markdown.openRuns === 0) return false;
    this.#input.rewind();
    this.#input.mark();
    this.#span = new SpanWatch(this.#markdown);
    this.#state = "span";
    return true;
  }

  #inSpan(): boolean {
    const span = this.#span;
    const result = span?.read(this.#input) ?? "plain";
    if (result === "open") return false;
    if (span && result === "code") {
      this.#output.text(this.#input.release());
      this.#markdown = span.markdown;
    } else {
      this.#input.rewind();
      this.#markdown.forgetRuns();
    }
    this.#state = "text";
    return true;
  }

  #inCall(): boolean {
    const invocation = this.#invocation;
    const outcome = invocation?.read() ?? "over";
    if (outcome === "open") return false;
    if (invocation?.malformed) this.#bad = true;
    if (this.#orphan && outcome !== "closed") return this.#fail();
    if (this.#orphan && this.#bad) return this.#fail();
    if (outcome === "cut") invocation?.call.leave();
    else invocation?.call.end();
    this.#invocation = undefined;
    if (outcome === "lost") this.#loosen("invoke");
    else if (outcome === "cut" || outcome === "over") this.#state = "text";
    else this.#endInvoke();
    return true;
  }

  #invokes(): boolean {
    const input = this.#input;
    input.at = this.#skipSpace(input.at);
    if (input.done && !input.final) return false;
    const opens = !input.done && UNITS[input.text.charCodeAt(input.at)] === OPENER;
    const tag = opens ? readTag(input.text, input.at, TAG_LIMIT, false) : "none";
    if (input.done || (tag === "partial" && input.final)) {
      if (this.#orphan) return this.#fail();
      input.at = input.text.length;
      input.release();
      this.#markdown.skip();
      this.#state = "text";
      return true;
    }
    if (tag === "partial") return false;
    if (tag !== "none" && closes(tag, "tool_calls")) {
      input.at = tag.end;
      this.#endWrapper();
    } else if (tag !== "none" && opensInvoke(tag)) {
      if (!this.#orphan) input.mark();
      this.#openInvoke(tag);
    } else {
      if (this.#orphan) return this.#fail();
      if (tag !== "none") this.#bad = true;
      this.#loosen("wrapper");
    }
    return true;
  }

  /** Text follows although the wrapper is still open: the text passes, and the remaining end tags are removed. */
  #loosen(open: "wrapper" | "invoke"): void {
    const raw = this.#input.release();
    this.#markdown.skip();
    this.#output.text(raw);
    this.#markdown.feed(raw);
    this.#loose = open;
    this.#state = "text";
  }

  #endInvoke(): void {
    this.#state = "invokes";
    if (!this.#orphan) this.#input.mark();
  }

  #endWrapper(): void {
    const input = this.#input;
    this.#state = "text";
    this.#loose = "none";
    if (this.#orphan) {
      this.#orphan = false;
      if (this.#markdown.openRuns > 0) {
        this.#output.drop();
        this.#suspectSpan();
        return;
      }
      this.#output.keep();
    }
    input.release();
    if (this.#whole && this.#bad) {
      const { offset, saved, markdown } = this.#start;
      const raw = input.text.slice(input.at - (input.offset - offset), input.at);
      this.#output.restore(saved);
      this.#output.text(raw);
      this.#markdown = markdown;
      this.#markdown.feed(raw);
    } else this.#markdown.skip();
  }
}
