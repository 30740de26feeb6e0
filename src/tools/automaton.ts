import { ParameterBody, TAG_LIMIT } from "./body.ts";
import { Call, type Catalogue } from "./call.ts";
import { BACKSLASH, BACKTICK, NEWLINE, nextMarked, OPENER, skipSpace, UNITS } from "./characters.ts";
import type { Input } from "./input.ts";
import { argumentsSource } from "./literals.ts";
import { Markdown } from "./markdown.ts";
import type { Output } from "./output.ts";
import { MAX_OPENERS, readTag, type Tag } from "./tags.ts";

/** The longest text that is held back to see whether it is a tag, in UTF-16 units. */
const HOLD = 128;
/** How much that does not belong there may stand within an invoke. */
const MAX_GARBAGE = 1024;
const MAX_JSON_ENDS = 4;
const BRACE = 0x7b;
const TICK = 0x60;
const LESS = 0x3c;
const GREATER = 0x3e;
const TEXT_MARKS = OPENER | BACKTICK | NEWLINE | BACKSLASH;

type State =
  | "text"
  /** Behind an opening wrapper: an invoke must follow. */
  | "wrapper"
  /** Behind an invoke that is not announced. */
  | "invoke"
  /** Within a JSON body of such an invoke. */
  | "json"
  /** A call could be announced here unless it stands in a code span that is not closed yet. */
  | "span"
  /** Within an announced invoke. */
  | "parameters"
  /** Within one of its parameters. */
  | "parameter"
  /** Within an announced invoke, behind something that does not belong there. */
  | "garbage"
  /** Behind an invoke: another one or the closing wrapper follows. */
  | "invokes";

const named = (tag: Tag): boolean => !tag.close && tag.name !== undefined && tag.name !== "";
const opensInvoke = (tag: Tag): boolean => tag.kind === "invoke" && named(tag);
const opensParameter = (tag: Tag): boolean => tag.kind === "parameter" && named(tag);
const closes = (tag: Tag, kind: Tag["kind"]): boolean => tag.kind === kind && tag.close;

/** Where in a run of `<` a tag could begin at the earliest. */
function lastOpeners(text: string, at: number): number {
  let end = at;
  while (text.charCodeAt(end) === LESS) end++;
  return Math.max(at, end - MAX_OPENERS);
}

/**
 * The grammar of the markup as a push automaton (contract, Tool calling rules): reads the input as far as it is decided,
 * writes events, and stops. A call is announced once its wrapper, its invoke and either its first parameter or its end are
 * complete outside code; until then everything can still be released as text.
 */
export class Automaton {
  readonly #input: Input;
  readonly #output: Output;
  readonly #catalogue: Catalogue;
  readonly #whole: boolean;
  #state: State = "text";
  #markdown = new Markdown();
  #span = new Markdown();
  #call: Call | undefined;
  #body: ParameterBody | undefined;
  /** Name and shells of the invoke and its wrapper. */
  #name = "";
  #wrapperShell = "";
  #invokeShell = "";
  #json = "";
  #jsonEnds = 0;
  #jsonEnd = 0;
  /** Text stands between the calls of a wrapper that is still open; its end tags are to be swallowed. */
  #loose: "none" | "wrapper" | "invoke" = "none";
  /** A wrapper was refused because of what it holds: its invokes are no calls without a wrapper either. */
  #refused = false;
  /** Reading an invoke without a wrapper, which needs the closing one to count. */
  #orphan = false;
  /** Before this offset no such invoke is looked for, because one was tried and failed. */
  #guard = 0;
  /** The text showed at its end that some CDATA is never closed. */
  #unclosed = false;
  /** Something within the wrapper is malformed. */
  #bad = false;
  #start = { offset: 0, saved: { length: 0, next: 0 }, markdown: new Markdown() };

  constructor(input: Input, output: Output, catalogue: Catalogue, whole: boolean) {
    this.#input = input;
    this.#output = output;
    this.#catalogue = catalogue;
    this.#whole = whole;
  }

  /** Reads on as far as the input decides. */
  run(): void {
    while (this.#step());
  }

  /** Completes a call that is still open, so that its arguments parse. */
  abandon(): void {
    if (this.#orphan) this.#output.drop();
    else this.#endCall();
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
      case "parameters":
        return this.#parameters();
      case "parameter":
        return this.#parameter();
      case "garbage":
        return this.#garbage();
      case "invokes":
        return this.#invokes();
    }
  }

  #text(): boolean {
    const { text, at, final } = this.#input;
    const markdown = this.#markdown;
    let index = at;
    while (index < text.length) {
      if (markdown.plain) {
        index = nextMarked(text, index, TEXT_MARKS);
        if (index === text.length) break;
      } else if (markdown.fencedLine) {
        const end = text.indexOf("\n", index);
        if (end < 0) break;
        index = end;
      }
      const unit = text.charCodeAt(index);
      if (UNITS[unit] === OPENER) {
        markdown.settle();
        const tag = markdown.fenced ? "none" : readTag(text, index, HOLD, final);
        if (tag !== "none") {
          const accepted = tag === "partial" || this.#accepts(tag, this.#input.offset - at + index);
          if (accepted) {
            this.#output.text(text.slice(at, index));
            this.#input.at = index;
            if (tag === "partial") return false;
            this.#enter(tag);
            return true;
          }
        }
      }
      markdown.step(unit);
      index++;
      if (unit === LESS && text.charCodeAt(index) === LESS) index = lastOpeners(text, index);
    }
    this.#output.text(text.slice(at));
    this.#input.at = text.length;
    return false;
  }

  /** Skips what may stand between tags: white space, and the marks of a block quote. */
  #skipSpace(from: number): number {
    const { text } = this.#input;
    let at = skipSpace(text, from);
    while (this.#markdown.quoted && text.charCodeAt(at) === GREATER) at = skipSpace(text, at + 1);
    return at;
  }

  /** Whether a complete tag in text matters. */
  #accepts(tag: Tag, offset: number): boolean {
    if (tag.kind === "tool_calls") {
      if (tag.close && this.#loose === "none") this.#refused = false;
      return tag.close ? this.#loose !== "none" : !tag.empty;
    }
    if (tag.close) return this.#loose === "invoke";
    if (!opensInvoke(tag)) return false;
    return this.#loose !== "none" || (!this.#refused && offset >= this.#guard);
  }

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

  /** What was held back is text after all. */
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

  /** An invoke without a wrapper came to nothing: its text is read again as text. */
  #fail(): boolean {
    this.#output.drop();
    this.#guard = this.#input.offset;
    this.#input.rewind();
    this.#orphan = false;
    this.#call = undefined;
    this.#body = undefined;
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
    if (tag.empty && this.#announce()) this.#endInvoke();
  }

  #invoke(): boolean {
    const input = this.#input;
    const at = this.#skipSpace(input.at);
    if (at - input.at > MAX_GARBAGE) return this.#refuse(true);
    if (at === input.text.length) return input.final ? this.#refuse(true) : false;
    const unit = input.text.charCodeAt(at);
    if (unit === BRACE) {
      input.at = at;
      this.#json = "";
      this.#jsonEnds = 0;
      this.#state = "json";
      return true;
    }
    if (UNITS[unit] !== OPENER) return this.#refuse(true);
    const tag = readTag(input.text, at, TAG_LIMIT, input.final);
    if (tag === "partial") return false;
    if (tag === "none" || !(opensParameter(tag) || closes(tag, "invoke"))) return this.#refuse(true);
    input.at = at;
    if (!this.#announce()) return true;
    this.#state = "parameters";
    return true;
  }

  #jsonBody(): boolean {
    const input = this.#input;
    const at = nextMarked(input.text, input.at, OPENER);
    this.#json += input.text.slice(input.at, at);
    input.at = at;
    if (input.done) return input.final ? this.#refuse(true) : false;
    const tag = readTag(input.text, at, TAG_LIMIT, input.final);
    if (tag === "partial") return false;
    let end = at + 1;
    if (tag !== "none") {
      if (tag.kind === "tool_calls" && !tag.close) return this.#refuse(true);
      const broken = this.#jsonEnds > 0 && this.#json.slice(this.#jsonEnd).trim() === "";
      if (closes(tag, "tool_calls") && broken) return this.#refuse(true);
      end = tag.end;
      if (closes(tag, "invoke")) {
        const source = argumentsSource(this.#json, this.#catalogue.parameters(this.#name));
        if (source !== undefined) {
          input.at = tag.end;
          if (this.#announce()) this.#endInvoke(source);
          return true;
        }
        if (++this.#jsonEnds > MAX_JSON_ENDS) return this.#refuse(true);
      }
    }
    this.#json += input.text.slice(at, end);
    this.#jsonEnd = this.#json.length;
    input.at = end;
    return true;
  }

  /** Announces the call, unless it may stand within a code span; then the text is read on to see. */
  #announce(): boolean {
    if (!this.#orphan && this.#suspectSpan()) return false;
    if (!this.#orphan) this.#input.release();
    this.#loose = "none";
    this.#call = new Call(this.#output, this.#catalogue, this.#name, this.#whole);
    return true;
  }

  #suspectSpan(): boolean {
    if (this.#markdown.openRuns === 0) return false;
    this.#input.rewind();
    this.#input.mark();
    this.#span = this.#markdown.clone();
    this.#state = "span";
    return true;
  }

  #inSpan(): boolean {
    const input = this.#input;
    const span = this.#span;
    const { openRuns, blocks } = this.#markdown;
    for (;;) {
      const unit = input.done ? undefined : input.text.charCodeAt(input.at);
      if (unit === undefined && !input.final) return false;
      if (unit !== TICK) span.endRun();
      if (span.openRuns < openRuns && span.blocks === blocks) {
        this.#output.text(input.release());
        this.#markdown = span;
        break;
      }
      if (unit === undefined || span.blocks !== blocks) {
        input.rewind();
        this.#markdown.forgetRuns();
        break;
      }
      span.step(unit);
      input.at++;
    }
    this.#state = "text";
    return true;
  }

  #parameters(): boolean {
    const input = this.#input;
    input.at = this.#skipSpace(input.at);
    if (input.done) return input.final ? this.#cut() : false;
    const opens = UNITS[input.text.charCodeAt(input.at)] === OPENER;
    const tag = opens ? readTag(input.text, input.at, TAG_LIMIT, false) : "none";
    if (tag === "partial") {
      if (!input.final) return false;
      input.at = input.text.length;
      return this.#cut();
    }
    if (tag !== "none" && opensParameter(tag)) {
      this.#openParameter(tag);
    } else if (tag !== "none" && closes(tag, "invoke")) {
      input.at = tag.end;
      this.#endInvoke();
    } else {
      this.#bad = true;
      if (this.#orphan) return this.#fail();
      if (tag !== "none" && closes(tag, "tool_calls")) {
        input.at = tag.end;
        this.#endCall();
        this.#endWrapper();
      } else if (tag !== "none" && opensInvoke(tag)) {
        this.#endCall();
        input.mark();
        this.#openInvoke(tag);
      } else {
        input.mark();
        this.#state = "garbage";
      }
    }
    return true;
  }

  #openParameter(tag: Tag): void {
    const value = this.#call?.value(tag);
    this.#input.at = tag.end;
    if (!value) return;
    if (tag.empty) {
      value.end();
      return;
    }
    this.#body = new ParameterBody(value, {
      shells: ["", tag.shell, this.#invokeShell, this.#wrapperShell],
      loose: this.#unclosed,
      alone: this.#orphan,
    });
    this.#state = "parameter";
  }

  #parameter(): boolean {
    const input = this.#input;
    const body = this.#body;
    if (!body) return this.#cut();
    input.at = body.read(input.text, input.at, input.final);
    if (body.state === "open") {
      if (!input.final) return false;
      if (this.#orphan) return this.#fail();
      const again = body.recover();
      if (again === undefined) {
        input.at = input.text.length;
        body.cut();
        return this.#cut();
      }
      this.#unclosed = true;
      input.unread(again);
      return true;
    }
    if (body.state === "nested") return this.#fail();
    if (body.state === "broken") {
      this.#bad = true;
      if (this.#orphan) return this.#fail();
    }
    this.#state = "parameters";
    return true;
  }

  /** Looks for the next tag that belongs to the invoke; what stands before it is dropped. */
  #garbage(): boolean {
    const input = this.#input;
    for (;;) {
      if (input.done) {
        if (!input.final && input.recorded <= MAX_GARBAGE) return false;
        break;
      }
      if (input.recorded > MAX_GARBAGE) break;
      if (UNITS[input.text.charCodeAt(input.at)] === OPENER) {
        const tag = readTag(input.text, input.at, TAG_LIMIT, input.final);
        if (tag === "partial") return false;
        if (
          tag !== "none" &&
          (opensParameter(tag) || opensInvoke(tag) || (tag.close && tag.kind !== "parameter"))
        ) {
          input.release();
          this.#state = "parameters";
          return true;
        }
      }
      input.at++;
    }
    this.#endCall();
    this.#loosen("invoke");
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

  /** Text follows though the wrapper is still open: it passes, and the end tags to come do not. */
  #loosen(open: "wrapper" | "invoke"): void {
    const raw = this.#input.release();
    this.#markdown.skip();
    this.#output.text(raw);
    this.#markdown.feed(raw);
    this.#loose = open;
    this.#state = "text";
  }

  #endCall(): void {
    this.#call?.end();
    this.#call = undefined;
    this.#body = undefined;
  }

  #endInvoke(source?: string): void {
    if (source === undefined) this.#endCall();
    else this.#call?.endWith(source);
    this.#call = undefined;
    this.#state = "invokes";
    if (!this.#orphan) this.#input.mark();
  }

  /** The text ended within an announced call. */
  #cut(): boolean {
    if (this.#orphan) return this.#fail();
    this.#endCall();
    this.#state = "text";
    return true;
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
