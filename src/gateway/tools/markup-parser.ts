import { CallWriter, type ToolSchemas } from "./call-writer.ts";
import { skipSpace, UNIT_FLAGS } from "./characters.ts";
import { CodeSpanDetector } from "./code-span-detector.ts";
import type { EventOutput } from "./event-output.ts";
import {
  isClosing,
  isInvokeOpening,
  isParameterOpening,
  MAX_CALL_TAG_LENGTH,
  MAX_TEXT_TAG_LENGTH,
  MAX_UNEXPECTED_TEXT,
} from "./grammar.ts";
import type { InputBuffer } from "./input-buffer.ts";
import { InvokeReader, type UnclosedCdata } from "./invoke-reader.ts";
import { JsonBody } from "./json-body.ts";
import { MarkdownTracker } from "./markdown-tracker.ts";
import { passText } from "./plain-text.ts";
import { readTag, type Tag } from "./tags.ts";
import { BRACE, GREATER, OPENER_FLAG } from "./units.ts";

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
 * The grammar of the tool markup as a push parser (docs/contract.md, Tool calling rules): consumes the input as far as
 * its meaning is certain, writes events, and stops. A call is announced once its wrapper, its invoke and either its
 * first parameter or its end tag are complete outside code. Until then all of it can still become text.
 *
 * The class is long because its states lead to each other and are easier to read together.
 */
export class MarkupParser {
  readonly #input: InputBuffer;
  readonly #output: EventOutput;
  readonly #schemas: ToolSchemas;
  readonly #isWhole: boolean;
  #state: State = "text";
  #markdown = new MarkdownTracker();
  #span: CodeSpanDetector | undefined;
  #json: JsonBody | undefined;
  #invocation: InvokeReader | undefined;
  /** Name of the invoke; shells of the invoke and its wrapper. */
  #name = "";
  #wrapperShell = "";
  #invokeShell = "";
  /** Text followed a call although the wrapper is still open. Its remaining end tags are removed. */
  #openAfterText: "none" | "wrapper" | "invoke" = "none";
  /** A wrapper with invalid content was treated as text. Invokes within it are not calls without a wrapper either. */
  #isWrapperRejected = false;
  /** Reading an invoke without an opening wrapper. It counts only if a closing wrapper follows. */
  #hasNoWrapper = false;
  /** Parsing such an invoke before this offset has failed, so the parser does not try again. */
  #retryFrom = 0;
  readonly #unclosed: UnclosedCdata = { isAllUnclosed: false, unclosedBefore: 0, analysedUpTo: 0 };
  /** Whether something within the wrapper is malformed. */
  #isMalformed = false;
  #start = { offset: 0, saved: { length: 0, next: 0 }, markdown: new MarkdownTracker() };

  constructor(input: InputBuffer, output: EventOutput, schemas: ToolSchemas, isWhole: boolean) {
    this.#input = input;
    this.#output = output;
    this.#schemas = schemas;
    this.#isWhole = isWhole;
  }

  /** Consumes the input as far as its meaning is certain. */
  run(): void {
    while (this.#step());
  }

  /** Stops parsing: a call that is still open gets no end. */
  abandon(): void {
    if (this.#hasNoWrapper) this.#output.dropSpeculation();
    else this.#invocation?.call.leaveOpen();
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
    while (this.#markdown.isInBlockQuote && text.charCodeAt(at) === GREATER) at = skipSpace(text, at + 1);
    return at;
  }

  /** Whether a complete tag in text affects the state. */
  readonly #accepts = (tag: Tag, offset: number): boolean => {
    if (tag.kind === "tool_calls") {
      if (tag.isClosing && this.#openAfterText === "none") this.#isWrapperRejected = false;
      return tag.isClosing ? this.#openAfterText !== "none" : !tag.isSelfClosing;
    }
    if (tag.isClosing) return this.#openAfterText === "invoke";
    if (!isInvokeOpening(tag)) return false;
    return this.#openAfterText !== "none" || (!this.#isWrapperRejected && offset >= this.#retryFrom);
  };

  #enter(tag: Tag): void {
    const input = this.#input;
    if (tag.isClosing) {
      input.at += tag.end - input.at;
      if (tag.kind === "tool_calls") this.#endWrapper();
      else if (tag.kind === "invoke") this.#openAfterText = "wrapper";
      return;
    }
    input.startRecording();
    if (tag.kind === "tool_calls") {
      this.#begin();
      this.#wrapperShell = tag.shell;
      input.at = tag.end;
      this.#state = "wrapper";
      return;
    }
    if (this.#openAfterText === "none") {
      this.#begin();
      this.#hasNoWrapper = true;
      this.#wrapperShell = tag.shell;
      this.#output.startSpeculation();
    }
    this.#openInvoke(tag);
  }

  #begin(): void {
    this.#isMalformed = false;
    this.#isWrapperRejected = false;
    if (!this.#isWhole) return;
    this.#start = {
      offset: this.#input.offset,
      saved: this.#output.savePosition(),
      markdown: this.#markdown.clone(),
    };
  }

  /** Treats the held input as text. */
  #treatAsText(isRejected: boolean): boolean {
    if (this.#hasNoWrapper) return this.#discardInvoke();
    const raw = this.#input.endRecording();
    this.#output.addText(raw);
    this.#markdown.feed(raw);
    this.#isMalformed = true;
    this.#isWrapperRejected = isRejected;
    this.#state = "text";
    return true;
  }

  /** Discards an invoke without a wrapper: its input is read again as text. */
  #discardInvoke(): boolean {
    this.#output.dropSpeculation();
    this.#retryFrom = this.#input.offset;
    this.#input.rewind();
    this.#hasNoWrapper = false;
    this.#invocation = undefined;
    this.#state = "text";
    return true;
  }

  #wrapper(): boolean {
    const input = this.#input;
    input.at = this.#skipSpace(input.at);
    if (input.recordedLength > MAX_TEXT_TAG_LENGTH) return this.#treatAsText(false);
    if (input.isConsumed) return input.isFinal ? this.#treatAsText(false) : false;
    if (UNIT_FLAGS[input.text.charCodeAt(input.at)] !== OPENER_FLAG) return this.#treatAsText(false);
    const tag = readTag(input.text, input.at, MAX_CALL_TAG_LENGTH, input.isFinal);
    if (tag === "partial") return false;
    if (tag === "none" || !isInvokeOpening(tag)) return this.#treatAsText(true);
    this.#openInvoke(tag);
    return true;
  }

  #openInvoke(tag: Tag): void {
    this.#name = tag.name ?? "";
    this.#invokeShell = tag.shell;
    this.#input.at = tag.end;
    this.#state = "invoke";
    if (tag.isSelfClosing) this.#announce("{}");
  }

  #invoke(): boolean {
    const input = this.#input;
    const at = this.#skipSpace(input.at);
    if (at - input.at > MAX_UNEXPECTED_TEXT) return this.#treatAsText(true);
    if (at === input.text.length) return input.isFinal ? this.#treatAsText(true) : false;
    const unit = input.text.charCodeAt(at);
    if (unit === BRACE) {
      input.at = at;
      this.#json = new JsonBody(this.#schemas.parameterNames(this.#name));
      this.#state = "json";
      return true;
    }
    if (UNIT_FLAGS[unit] !== OPENER_FLAG) return this.#treatAsText(true);
    const tag = readTag(input.text, at, MAX_CALL_TAG_LENGTH, input.isFinal);
    if (tag === "partial") return false;
    if (tag === "none" || !(isParameterOpening(tag) || isClosing(tag, "invoke")))
      return this.#treatAsText(true);
    input.at = at;
    this.#announce();
    return true;
  }

  #jsonBody(): boolean {
    const result = this.#json?.read(this.#input) ?? "refused";
    if (result === "open") return false;
    if (result === "refused") return this.#treatAsText(true);
    this.#announce(result.source);
    return true;
  }

  /**
   * Announces the call, unless it may be within a code span; then more text is read to decide.
   * @param source The arguments, if the invoke was read to its end.
   */
  #announce(source?: string): void {
    if (!this.#hasNoWrapper) {
      if (this.#checkCodeSpan()) return;
      this.#input.endRecording();
    }
    this.#openAfterText = "none";
    const call = new CallWriter(this.#output, this.#schemas, this.#name, this.#isWhole);
    if (source !== undefined) {
      call.endWith(source);
      this.#endInvoke();
      return;
    }
    this.#invocation = new InvokeReader(call, this.#input, {
      shells: [this.#invokeShell, this.#wrapperShell],
      unclosed: this.#unclosed,
      hasNoWrapper: this.#hasNoWrapper,
      skipSpace: (at) => this.#skipSpace(at),
    });
    this.#state = "call";
  }

  #checkCodeSpan(): boolean {
    if (this.#markdown.openRunCount === 0) return false;
    this.#input.rewind();
    this.#input.startRecording();
    this.#span = new CodeSpanDetector(this.#markdown);
    this.#state = "span";
    return true;
  }

  #inSpan(): boolean {
    const span = this.#span;
    const result = span?.read(this.#input) ?? "plain";
    if (result === "open") return false;
    if (span && result === "code") {
      this.#output.addText(this.#input.endRecording());
      this.#markdown = span.markdown;
    } else {
      this.#input.rewind();
      this.#markdown.discardRuns();
    }
    this.#state = "text";
    return true;
  }

  #inCall(): boolean {
    const invocation = this.#invocation;
    const outcome = invocation?.read() ?? "over";
    if (outcome === "open") return false;
    if (invocation?.malformed) this.#isMalformed = true;
    if (this.#hasNoWrapper && outcome !== "closed") return this.#discardInvoke();
    if (this.#hasNoWrapper && this.#isMalformed) return this.#discardInvoke();
    if (outcome === "cut") invocation?.call.leaveOpen();
    else invocation?.call.end();
    this.#invocation = undefined;
    if (outcome === "lost") this.#continueAsText("invoke");
    else if (outcome === "cut" || outcome === "over") this.#state = "text";
    else this.#endInvoke();
    return true;
  }

  #invokes(): boolean {
    const input = this.#input;
    input.at = this.#skipSpace(input.at);
    if (input.isConsumed && !input.isFinal) return false;
    const isOpener = !input.isConsumed && UNIT_FLAGS[input.text.charCodeAt(input.at)] === OPENER_FLAG;
    const tag = isOpener ? readTag(input.text, input.at, MAX_CALL_TAG_LENGTH, false) : "none";
    if (input.isConsumed || (tag === "partial" && input.isFinal)) {
      if (this.#hasNoWrapper) return this.#discardInvoke();
      input.at = input.text.length;
      input.endRecording();
      this.#markdown.skipNonText();
      this.#state = "text";
      return true;
    }
    if (tag === "partial") return false;
    if (tag !== "none" && isClosing(tag, "tool_calls")) {
      input.at = tag.end;
      this.#endWrapper();
    } else if (tag !== "none" && isInvokeOpening(tag)) {
      if (!this.#hasNoWrapper) input.startRecording();
      this.#openInvoke(tag);
    } else {
      if (this.#hasNoWrapper) return this.#discardInvoke();
      if (tag !== "none") this.#isMalformed = true;
      this.#continueAsText("wrapper");
    }
    return true;
  }

  /** Text follows although the wrapper is still open: the text passes, and the remaining end tags are removed. */
  #continueAsText(element: "wrapper" | "invoke"): void {
    const raw = this.#input.endRecording();
    this.#markdown.skipNonText();
    this.#output.addText(raw);
    this.#markdown.feed(raw);
    this.#openAfterText = element;
    this.#state = "text";
  }

  #endInvoke(): void {
    this.#state = "invokes";
    if (!this.#hasNoWrapper) this.#input.startRecording();
  }

  #endWrapper(): void {
    const input = this.#input;
    this.#state = "text";
    this.#openAfterText = "none";
    if (this.#hasNoWrapper) {
      this.#hasNoWrapper = false;
      if (this.#markdown.openRunCount > 0) {
        this.#output.dropSpeculation();
        this.#checkCodeSpan();
        return;
      }
      this.#output.keepSpeculation();
    }
    input.endRecording();
    if (this.#isWhole && this.#isMalformed) {
      const { offset, saved, markdown } = this.#start;
      const raw = input.text.slice(input.at - (input.offset - offset), input.at);
      this.#output.restorePosition(saved);
      this.#output.addText(raw);
      this.#markdown = markdown;
      this.#markdown.feed(raw);
    } else this.#markdown.skipNonText();
  }
}
