import { type Conversation, usesTools } from "../conversation/conversation.ts";
import type { AnswerToken, GenerationEvent, Usage } from "../conversation/events.ts";
import { randomId } from "../conversation/ids.ts";
import type { Sources } from "../conversation/sources.ts";
import type { ToolDefinition } from "../conversation/tool.ts";
import { cutsOff, type ProviderEvent, type ProviderFinish, type SearchResult } from "../provider/provider.ts";
import { type ScanEvent, ToolScanner } from "../tools/scanner.ts";
import { CitationFilter, distinctSources, linkCitations } from "./citations.ts";
import { GivenCitations } from "./given-citations.ts";
import { UsageCount } from "./usage-count.ts";

/** A piece of the model's text or reasoning. */
type Words = Extract<ProviderEvent, { type: "text" | "reasoning" }>;

/** How an upstream turn ended: the facts that decide the next step. */
export interface TurnEnd {
  /** Neither visible text nor a tool call came (white space counts as nothing). */
  readonly empty: boolean;
  /** Also `length` when a call did not end although the upstream reported a normal finish. */
  readonly reason: ProviderFinish;
}

/**
 * Converts the provider's events to the caller's: converts tool markup to calls, removes citation markers, and shows
 * reasoning or only searches it for calls (contract, tool rule 9). It has no streams, timers or network. One assembler
 * serves one generation, over all of its upstream turns.
 */
export class Assembler {
  readonly #showReasoning: boolean;
  readonly #tools: readonly ToolDefinition[] | null;
  readonly #whole: boolean;
  #text: ToolScanner | null;
  #reasoning: ToolScanner | null;
  #citations: CitationFilter | null;
  /** The filter for reasoning that a stream shows. A marker is never split between text and reasoning. */
  #thoughtCitations: CitationFilter | null;
  /** White space at the beginning or after a call: shown only if text follows. */
  #leading = "";
  #inText = false;
  #visible = false;
  #refused = false;
  /** Tokens whose text has not been shown yet. */
  #tokens: AnswerToken[] = [];
  /** Numbers of calls that were announced and that ended. */
  #announced = 0;
  #ended = 0;
  #openCall = -1;
  /** The open call has no arguments yet. */
  #unfilled = false;
  /** Whether a call of this turn did not end. */
  #cut = false;
  readonly #parallel: boolean;
  /** The only call that the caller allows has been made. Later output of the upstream is recorded but not forwarded. */
  #over = false;
  /** The caller's stop sequences, and the one at which the answer stopped. */
  readonly #stops: readonly string[];
  #stopSequence: string | undefined;
  #reasoningCalls: ScanEvent[] = [];
  #nativeBase = 0;
  /** Words that arrived during a native call: they follow after it. Null: no call is open. */
  #held: Words[] | null = null;
  #finish: ProviderFinish = "stop";
  readonly #usage: UsageCount;
  #searchResults: SearchResult[] = [];
  #given = new GivenCitations();
  /** The text that the caller was shown, and its length before this turn's text. */
  #shown = "";
  #turnStart = 0;

  /** The upstream's raw output of all turns, before translation or trimming (contract, general rule 9). */
  rawText = "";
  rawReasoning = "";
  /** The upstream's id of the current message. */
  messageId = "";

  constructor(conversation: Conversation) {
    this.#tools = usesTools(conversation) ? conversation.tools : null;
    this.#whole = !conversation.stream;
    this.#parallel = conversation.parallelToolCalls;
    this.#stops = conversation.sampling.stop ?? [];
    this.#usage = new UsageCount(conversation.model.context);
    this.#showReasoning = conversation.thinking && conversation.showReasoning;
    this.#text = this.#scanner();
    this.#reasoning = this.#scanner();
    this.#citations = conversation.stream ? new CitationFilter() : null;
    this.#thoughtCitations = conversation.stream && this.#showReasoning ? new CitationFilter() : null;
  }

  /** Whether the caller has received any visible part of the answer. */
  get answered(): boolean {
    return this.#visible || this.#announced > 0;
  }

  /** Whether the model declined to answer. */
  get refused(): boolean {
    return this.#refused;
  }

  /** The number of calls that ended. */
  get calls(): number {
    return this.#ended;
  }

  /** Whether the current upstream message must be continued. */
  get incomplete(): boolean {
    return this.#finish === "incomplete" && !this.#over;
  }

  /** Takes the events of one upstream read, and appends the caller's events to `out`. */
  push(events: readonly ProviderEvent[], out: GenerationEvent[]): void {
    for (const event of events) {
      switch (event.type) {
        case "text":
          this.rawText += event.text;
          this.#takeWords(event, out);
          break;
        case "reasoning":
          this.rawReasoning += event.text;
          this.#takeWords(event, out);
          break;
        case "refusal":
          this.rawText += event.text;
          this.#visible = true;
          this.#refused = true;
          this.#endReasoning(out);
          out.push({ type: "refusal", text: event.text });
          break;
        case "tokens":
          for (const token of event.tokens) this.#tokens.push(token);
          break;
        case "tool-call":
          if (this.#over) break;
          this.#leaveNative(out);
          this.#beginCall(this.#nativeBase + event.index, event.name, event.id, out);
          this.#held = [];
          break;
        case "tool-arguments":
          if (!this.#over) this.#fillCall(event.delta, out);
          break;
        case "tool-call-end":
          if (this.#over) break;
          this.#endCall(out);
          this.#release(out);
          break;
        case "start":
          this.messageId = event.messageId;
          break;
        case "search":
          for (const result of event.results) this.#searchResults.push(result);
          break;
        case "citation":
          this.#given.push(event, this.#turnStart);
          break;
        case "usage":
          this.#usage.take(event.usage);
          break;
        case "finish":
          this.#finish = event.reason;
          this.#stopSequence = this.#stops.find((sequence) => sequence === event.stopSequence);
          break;
      }
    }
  }

  /** Restarts the answer: discards all of it but its usage. The caller has seen nothing of it. */
  startAnew(): void {
    this.#usage.endPart();
    if (this.answered) {
      this.rawText = "";
      this.rawReasoning = "";
    }
    this.#text = this.#scanner();
    this.#reasoning = this.#scanner();
    if (this.#citations !== null) this.#citations = new CitationFilter();
    if (this.#thoughtCitations !== null) this.#thoughtCitations = new CitationFilter();
    this.#leading = "";
    this.#inText = false;
    this.#visible = false;
    this.#refused = false;
    this.#tokens = [];
    this.#announced = 0;
    this.#ended = 0;
    this.#openCall = -1;
    this.#cut = false;
    this.#over = false;
    this.#stopSequence = undefined;
    this.#reasoningCalls = [];
    this.#nativeBase = 0;
    this.#held = null;
    this.#finish = "stop";
    this.#searchResults = [];
    this.#given = new GivenCitations();
    this.#shown = "";
    this.#turnStart = 0;
    this.messageId = "";
  }

  /** Continues the message in another stream (`incomplete`): flushes nothing, keeps the usage of this part. */
  continueTurn(): void {
    this.#usage.endPart();
    this.#finish = "stop";
  }

  /**
   * Ends an upstream turn: flushes the held output and, when nothing visible came, makes the calls found in the reasoning
   * (contract, tool rule 9). A call that has not ended by now counts as cut off.
   */
  finishTurn(out: GenerationEvent[]): TurnEnd {
    this.#usage.endPart();
    // A turn that is over for the caller counts as a normal finish, whatever follows upstream.
    if (this.#over) this.#finish = "tool_calls";
    else this.#flush(out);
    // For example the token that ended the answer, which has no text.
    if (this.#inText && this.#tokens.length > 0) this.#push("", out);
    this.#tokens = [];
    const reason = this.#cut && !cutsOff(this.#finish) ? "length" : this.#finish;
    this.#finish = "stop";
    this.#cut = false;
    this.#dropLeading();
    this.#nativeBase = this.#announced;
    this.#turnStart = this.#shown.length;
    this.#text = this.#scanner();
    this.#reasoning = this.#scanner();
    return { empty: !this.answered, reason };
  }

  /** Flushes the held output. */
  #flush(out: GenerationEvent[]): void {
    this.#leaveNative(out);
    const cut = cutsOff(this.#finish);
    if (this.#text !== null) this.#emitScan(this.#text.finish(cut), out);
    if (this.#citations !== null) this.#showText(this.#citations.finish(), out);
    if (this.#reasoning !== null) this.#emitReasoningScan(this.#reasoning.finish(cut), out);
    this.#endReasoning(out);
    this.#leaveCall(out);
    if (!this.answered) this.#emitScan(endedCalls(this.#reasoningCalls), out);
    this.#reasoningCalls = [];
  }

  /** The stop sequence at which the answer ended, if the upstream states it. */
  get stopSequence(): string | undefined {
    return this.#stopSequence;
  }

  /** The generation's token counts. `promptText` is the text that the model read. */
  usage(promptText: string): Usage {
    return this.#usage.total(promptText, this);
  }

  /** The same for a turn that was interrupted. */
  usageSoFar(promptText: string): Usage {
    return this.#usage.soFar(promptText, this);
  }

  /** Whether the upstream stated implausibly large counts; see {@link usage}. */
  get usageRefused(): boolean {
    return this.#usage.refused;
  }

  #scanner(): ToolScanner | null {
    return this.#tools === null ? null : new ToolScanner({ tools: this.#tools, whole: this.#whole });
  }

  #takeWords(words: Words, out: GenerationEvent[]): void {
    if (this.#over) return;
    if (this.#held !== null) this.#held.push(words);
    else if (words.type === "text") {
      if (this.#text === null) this.#emitText(words.text, out);
      else this.#emitScan(this.#text.push(words.text), out);
    } else if (this.#reasoning === null) this.#emitReasoning(words.text, out);
    else this.#emitReasoningScan(this.#reasoning.push(words.text), out);
  }

  /** Releases the words that were held during a native call. */
  #release(out: GenerationEvent[]): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const words of held) this.#takeWords(words, out);
  }

  /** Cuts off a native call that is still open. */
  #leaveNative(out: GenerationEvent[]): void {
    if (this.#held === null) return;
    this.#leaveCall(out);
    this.#release(out);
  }

  #emitText(text: string, out: GenerationEvent[]): void {
    this.#showText(this.#citations === null ? text : this.#citations.push(text), out);
  }

  #showText(text: string, out: GenerationEvent[]): void {
    if (text === "") return;
    let shown = text;
    if (!this.#inText) {
      if (text.trim() === "") {
        this.#leading += text;
        return;
      }
      shown = this.#leading + text;
      this.#leading = "";
      this.#inText = true;
      this.#visible = true;
    }
    this.#endReasoning(out);
    this.#push(shown, out);
  }

  #push(text: string, out: GenerationEvent[]): void {
    this.#shown += text;
    if (this.#tokens.length === 0) out.push({ type: "text", text });
    else {
      out.push({ type: "text", text, tokens: this.#tokens });
      this.#tokens = [];
    }
  }

  #emitReasoning(text: string, out: GenerationEvent[]): void {
    if (!this.#showReasoning) return;
    this.#pushReasoning(this.#thoughtCitations === null ? text : this.#thoughtCitations.push(text), out);
  }

  /** Flushes held reasoning before the answer or at the end: it was not the beginning of a marker. */
  #endReasoning(out: GenerationEvent[]): void {
    if (this.#thoughtCitations !== null) this.#pushReasoning(this.#thoughtCitations.finish(), out);
  }

  #pushReasoning(text: string, out: GenerationEvent[]): void {
    if (text !== "") out.push({ type: "reasoning", text });
  }

  #emitReasoningScan(events: readonly ScanEvent[], out: GenerationEvent[]): void {
    for (const event of events) {
      if (event.type === "text") this.#emitReasoning(event.text, out);
      else this.#reasoningCalls.push(event);
    }
  }

  #emitScan(events: readonly ScanEvent[], out: GenerationEvent[]): void {
    for (const event of events) {
      if (this.#over) return;
      switch (event.type) {
        case "text":
          this.#emitText(event.text, out);
          break;
        case "tool-call":
          this.#beginCall(this.#announced, event.name, randomId("call_"), out);
          break;
        case "tool-arguments":
          this.#fillCall(event.delta, out);
          break;
        case "tool-call-end":
          this.#endCall(out);
          break;
      }
    }
  }

  #beginCall(index: number, name: string, id: string, out: GenerationEvent[]): void {
    this.#leaveCall(out);
    this.#endReasoning(out);
    this.#dropLeading();
    this.#inText = false;
    this.#openCall = index;
    this.#unfilled = true;
    this.#announced = Math.max(this.#announced, index + 1);
    out.push({ type: "tool-call", index, id, name });
  }

  #fillCall(delta: string, out: GenerationEvent[]): void {
    this.#unfilled = false;
    out.push({ type: "tool-arguments", index: this.#openCall, delta });
  }

  #endCall(out: GenerationEvent[]): void {
    out.push({ type: "tool-call-end", index: this.#openCall });
    this.#openCall = -1;
    this.#ended += 1;
    this.#over = !this.#parallel;
  }

  /** Cuts off the open call, if there is one. */
  #leaveCall(out: GenerationEvent[]): void {
    if (this.#openCall < 0) return;
    this.#cut = true;
    // Many clients read missing arguments as `{}`, so the call gets an incomplete object.
    if (this.#unfilled) this.#fillCall("{", out);
    this.#openCall = -1;
  }

  /** Drops the held white space. */
  #dropLeading(): void {
    this.#citations?.takeBack(this.#leading.length);
    this.#leading = "";
  }

  /**
   * The sources of the answer: the search results and the citations, without markers in a text that the caller has not seen
   * yet. Null: there are none.
   */
  sources(): Sources | null {
    const given = this.#given.in(this.#shown);
    const found = distinctSources([...this.#searchResults, ...given]);
    if (found.length === 0) return null;
    const marked = this.#citations?.citations(this.#searchResults) ?? [];
    const citations = [...given, ...marked].sort((one, other) => one.start - other.start);
    return { found, citations };
  }

  /**
   * Replaces citation markers in a complete text or reasoning by links to the search results. Also returns the links'
   * positions.
   */
  linkCitations(text: string): ReturnType<typeof linkCitations> {
    return linkCitations(text, this.#searchResults);
  }
}

/** Drops the events of calls that did not end: nothing of the reasoning's calls has been shown yet. */
function endedCalls(events: readonly ScanEvent[]): ScanEvent[] {
  const ended = new Set(events.map((event) => (event.type === "tool-call-end" ? event.index : -1)));
  return events.filter((event) => event.type === "text" || ended.has(event.index));
}
