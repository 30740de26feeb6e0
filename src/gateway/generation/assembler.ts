import { type Conversation, usesTools } from "../../core/conversation/conversation.ts";
import type { AnswerToken, GenerationEvent, Usage } from "../../core/conversation/events.ts";
import { randomId } from "../../core/conversation/ids.ts";
import type { Sources } from "../../core/conversation/sources.ts";
import { estimateTokens } from "../../core/conversation/tokens.ts";
import type { ToolDefinition } from "../../core/conversation/tool.ts";
import {
  mayBeTruncated,
  type ProviderEvent,
  type ProviderFinish,
  type SearchResult,
  TEXT_SEPARATOR,
} from "../providers/provider.ts";
import { type ScanEvent, ToolScanner } from "../tools/tool-scanner.ts";
import { CitationFilter, deduplicateSources, linkCitations } from "./citations.ts";
import { ProviderCitations } from "./provider-citations.ts";
import { UsageCount } from "./usage-count.ts";

/** A piece of the model's text or reasoning. */
type ModelText = Extract<ProviderEvent, { type: "text" | "reasoning" }>;

/** How an upstream turn ended: the facts that decide the next step. */
export interface TurnEnd {
  /** The answer has no visible text and no tool call yet. White space does not count. */
  readonly isEmpty: boolean;
  /** Also `length` when a call did not end although the upstream reported a normal finish. */
  readonly reason: ProviderFinish;
}

/** Most queries of a web search that an answer states. */
const MAX_QUERIES = 100;

/**
 * Converts the provider's events to the caller's: converts tool markup to calls, removes citation markers, and shows
 * reasoning or only searches it for calls (contract, tool rule 9). It has no streams, timers or network. One assembler
 * serves one generation, over all of its upstream turns.
 */
export class Assembler {
  readonly #showReasoning: boolean;
  /** Null: the conversation uses no tools, so text is not searched for tool markup. */
  readonly #tools: readonly ToolDefinition[] | null;
  readonly #isUnstreamed: boolean;
  #textScanner: ToolScanner | null;
  #reasoningScanner: ToolScanner | null;
  #citations: CitationFilter | null;
  /** The filter for reasoning that a stream shows. A marker is never split between text and reasoning. */
  #reasoningCitations: CitationFilter | null;
  /** White space at the beginning or after a call: shown only if text follows. */
  #leadingSpace = "";
  #isInText = false;
  /** The next text is separate from the text before it. */
  #startsSeparateText = false;
  /** The separator is held before `#leadingSpace`. */
  #holdsSeparator = false;
  #hasVisibleText = false;
  #hasRefusal = false;
  #hasServerTool = false;
  /** Tokens whose text has not been shown yet. */
  #tokens: AnswerToken[] = [];
  /** How many calls have begun, and how many have ended. */
  #announcedCalls = 0;
  #endedCalls = 0;
  #openCall = -1;
  /** The open call has no arguments yet. */
  #hasNoArguments = false;
  /** Whether a call of this turn did not end. */
  #hasCutCall = false;
  readonly #parallel: boolean;
  /** The only function that the request allows. Null: it allows more than one. */
  readonly #forcedFunction: string | null;
  /** Calls of other functions, which are left out, and whether one of them is open. */
  #omittedCalls = 0;
  #isOmittingCall = false;
  /** The only call that the caller allows has been made. Later output of the upstream is recorded but not forwarded. */
  #isDone = false;
  /** The caller's stop sequences, and the one at which the answer stopped. */
  readonly #stopSequences: readonly string[];
  #stopSequence: string | undefined;
  #reasoningCalls: ScanEvent[] = [];
  /** Index of this turn's first native call: a call that the provider's protocol states, not one in tool markup. */
  #firstNativeIndex = 0;
  /** Text that arrived during a native call and is emitted after it. Null: no call is open. */
  #heldText: ModelText[] | null = null;
  #finishReason: ProviderFinish = "stop";
  readonly #usage: UsageCount;
  #searchResults: SearchResult[] = [];
  #searchQueries: string[] = [];
  #providerCitations = new ProviderCitations();
  /** The text that the caller was shown, and its length before this turn's text. */
  #shownText = "";
  #turnStart = 0;

  /** The upstream's raw output of all turns, before translation or trimming (contract, general rule 9). */
  rawText = "";
  rawReasoning = "";
  /** Names and arguments of native calls, for estimates. */
  rawCalls = "";
  /** Estimated tokens of the answer's further choices. */
  otherChoiceTokens = 0;
  /** The upstream's id of the current message. */
  messageId = "";
  /** Ids of what the answer left at the account. */
  readonly accountStateIds = new Set<string>();

  constructor(conversation: Conversation) {
    this.#tools = usesTools(conversation) ? conversation.tools : null;
    this.#isUnstreamed = !conversation.stream;
    const { toolChoice } = conversation;
    this.#forcedFunction = this.#tools !== null && toolChoice.type === "function" ? toolChoice.name : null;
    this.#parallel = conversation.parallelToolCalls;
    this.#stopSequences = conversation.sampling.stop ?? [];
    this.#usage = new UsageCount(conversation.model.context);
    this.#showReasoning = conversation.thinking && conversation.showReasoning;
    this.#textScanner = this.#createScanner();
    this.#reasoningScanner = this.#createScanner();
    this.#citations = conversation.stream ? new CitationFilter() : null;
    this.#reasoningCitations = conversation.stream && this.#showReasoning ? new CitationFilter() : null;
  }

  /** Whether the caller has received any visible part of the answer. */
  get hasVisibleOutput(): boolean {
    return this.#hasVisibleText || this.#announcedCalls > 0;
  }

  /** Whether the model declined to answer. */
  get hasRefused(): boolean {
    return this.#hasRefusal;
  }

  /** Whether the provider has run a tool of its own. */
  get hasServerTool(): boolean {
    return this.#hasServerTool;
  }

  /** Whether the model called a function other than the one that the request names. */
  get hasOmittedCall(): boolean {
    return this.#omittedCalls > 0;
  }

  /** The number of calls that ended. */
  get endedCalls(): number {
    return this.#endedCalls;
  }

  /** Whether the current upstream message must be continued. */
  get isIncomplete(): boolean {
    return this.#finishReason === "incomplete" && !this.#isDone;
  }

  /** Takes the events of one upstream read, and appends the caller's events to `out`. */
  push(events: readonly ProviderEvent[], out: GenerationEvent[]): void {
    for (const event of events) {
      switch (event.type) {
        case "text":
          this.rawText += event.text;
          this.#processText(event, out);
          break;
        case "reasoning":
          this.rawReasoning += event.text;
          this.#processText(event, out);
          break;
        case "refusal":
          this.rawText += event.text;
          this.#hasVisibleText = true;
          this.#hasRefusal = true;
          this.#endReasoning(out);
          out.push({ type: "refusal", text: event.text });
          break;
        case "tokens":
          for (const token of event.tokens) this.#tokens.push(token);
          break;
        case "tool-call":
          this.rawCalls += `${event.name} `;
          if (this.#isDone) break;
          this.#cutNativeCall(out);
          this.#beginCall(
            this.#firstNativeIndex + event.index - this.#omittedCalls,
            event.name,
            event.id,
            out,
          );
          this.#heldText = [];
          break;
        case "tool-arguments":
          this.rawCalls += event.delta;
          if (!this.#isDone) this.#appendArguments(event.delta, out);
          break;
        case "tool-call-end":
          if (this.#isDone) break;
          this.#endCall(out);
          this.#releaseHeldText(out);
          break;
        case "server-tool":
          this.#hasServerTool = true;
          break;
        case "other-choice":
          this.otherChoiceTokens += estimateTokens(event.text);
          break;
        case "account-state":
          this.accountStateIds.add(event.id);
          break;
        case "start":
          this.messageId = event.messageId;
          break;
        case "search":
          for (const result of event.results) this.#searchResults.push(result);
          break;
        case "search-query":
          if (this.#searchQueries.length < MAX_QUERIES) this.#searchQueries.push(event.query);
          break;
        case "citation":
          this.#providerCitations.push(event, this.#turnStart);
          break;
        case "usage":
          this.#usage.addStatedUsage(event.usage);
          break;
        case "finish":
          this.#finishReason = event.reason;
          this.#stopSequence = this.#stopSequences.find((sequence) => sequence === event.stopSequence);
          break;
      }
    }
  }

  /** Restarts the answer: discards all of it but its usage. The caller has seen nothing of it. */
  reset(): void {
    this.#usage.endPart();
    if (this.hasVisibleOutput) {
      this.rawText = "";
      this.rawReasoning = "";
      this.rawCalls = "";
      this.otherChoiceTokens = 0;
    }
    this.#textScanner = this.#createScanner();
    this.#reasoningScanner = this.#createScanner();
    if (this.#citations !== null) this.#citations = new CitationFilter();
    if (this.#reasoningCitations !== null) this.#reasoningCitations = new CitationFilter();
    this.#leadingSpace = "";
    this.#isInText = false;
    this.#startsSeparateText = false;
    this.#holdsSeparator = false;
    this.#hasVisibleText = false;
    this.#hasRefusal = false;
    this.#hasServerTool = false;
    this.#tokens = [];
    this.#announcedCalls = 0;
    this.#omittedCalls = 0;
    this.#isOmittingCall = false;
    this.#endedCalls = 0;
    this.#openCall = -1;
    this.#hasCutCall = false;
    this.#isDone = false;
    this.#stopSequence = undefined;
    this.#reasoningCalls = [];
    this.#firstNativeIndex = 0;
    this.#heldText = null;
    this.#finishReason = "stop";
    this.#searchResults = [];
    this.#searchQueries = [];
    this.#providerCitations = new ProviderCitations();
    this.#shownText = "";
    this.#turnStart = 0;
    this.messageId = "";
    this.accountStateIds.clear();
  }

  /** Continues the message in another stream (`isIncomplete`): flushes nothing, keeps the usage of this part. */
  continueTurn(): void {
    this.#usage.endPart();
    this.#finishReason = "stop";
  }

  /**
   * Ends an upstream turn: flushes the held output and, when nothing visible came, makes the calls found in the reasoning
   * (contract, tool rule 9). A call that has not ended by now counts as cut off.
   */
  finishTurn(out: GenerationEvent[]): TurnEnd {
    this.#usage.endPart();
    // A turn that is over for the caller counts as a normal finish, whatever follows upstream.
    if (this.#isDone) this.#finishReason = "tool_calls";
    else this.#flush(out);
    // For example the token that ended the answer, which has no text.
    if (this.#isInText && this.#tokens.length > 0) this.#emitTextEvent("", out);
    this.#tokens = [];
    const reason = this.#hasCutCall && !mayBeTruncated(this.#finishReason) ? "length" : this.#finishReason;
    this.#finishReason = "stop";
    this.#hasCutCall = false;
    this.#dropLeading();
    this.#startsSeparateText = false;
    this.#firstNativeIndex = this.#announcedCalls + this.#omittedCalls;
    this.#turnStart = this.#shownText.length;
    this.#textScanner = this.#createScanner();
    this.#reasoningScanner = this.#createScanner();
    return { isEmpty: !this.hasVisibleOutput && this.#omittedCalls === 0, reason };
  }

  /** Flushes the held output. */
  #flush(out: GenerationEvent[]): void {
    this.#cutNativeCall(out);
    const isCut = mayBeTruncated(this.#finishReason);
    if (this.#textScanner !== null) this.#emitScan(this.#textScanner.finish(isCut), out);
    if (this.#citations !== null) this.#showText(this.#citations.finish(), out);
    if (this.#reasoningScanner !== null) this.#emitReasoningScan(this.#reasoningScanner.finish(isCut), out);
    this.#endReasoning(out);
    this.#cutOpenCall(out);
    if (!this.hasVisibleOutput) this.#emitScan(withoutCutCalls(this.#reasoningCalls), out);
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

  /** The token counts of a generation that was interrupted. */
  usageSoFar(promptText: string): Usage {
    return this.#usage.estimateSoFar(promptText, this);
  }

  /** Whether the upstream stated implausibly large counts; see {@link usage}. */
  get hasImplausibleUsage(): boolean {
    return this.#usage.hasImplausibleCount;
  }

  #createScanner(): ToolScanner | null {
    return this.#tools === null ? null : new ToolScanner({ tools: this.#tools, whole: this.#isUnstreamed });
  }

  #processText(piece: ModelText, out: GenerationEvent[]): void {
    if (this.#isDone) return;
    if (this.#heldText !== null) this.#heldText.push(piece);
    else if (piece.type === "text" && piece.isSeparator) this.#endSeparateText(out);
    else if (piece.type === "text") {
      if (this.#textScanner === null) this.#emitText(piece.text, out);
      else this.#emitScan(this.#textScanner.push(piece.text), out);
    } else if (this.#reasoningScanner === null) this.#emitReasoning(piece.text, out);
    else this.#emitReasoningScan(this.#reasoningScanner.push(piece.text), out);
  }

  /** Emits the text that was buffered during a native call. */
  #releaseHeldText(out: GenerationEvent[]): void {
    const held = this.#heldText ?? [];
    this.#heldText = null;
    for (const piece of held) this.#processText(piece, out);
  }

  /** Cuts off a native call that is still open. */
  #cutNativeCall(out: GenerationEvent[]): void {
    if (this.#heldText === null) return;
    this.#cutOpenCall(out);
    this.#releaseHeldText(out);
  }

  #emitText(text: string, out: GenerationEvent[]): void {
    this.#holdSeparator(out);
    this.#showText(this.#citations === null ? text : this.#citations.push(text), out);
  }

  /** Ends one of several texts. Tool markup never spans two texts. */
  #endSeparateText(out: GenerationEvent[]): void {
    if (this.#textScanner !== null) {
      this.#emitScan(this.#textScanner.finish(false), out);
      this.#cutOpenCall(out);
      this.#textScanner = this.#createScanner();
    }
    this.#startsSeparateText = true;
  }

  /** Holds the separator between two texts until the second one has visible text. */
  #holdSeparator(out: GenerationEvent[]): void {
    if (!this.#startsSeparateText) return;
    if (this.#citations !== null) this.#showText(this.#citations.finish(), out);
    this.#dropLeading();
    this.#startsSeparateText = false;
    if (this.#shownText === "") return;
    this.#citations?.push(TEXT_SEPARATOR);
    this.#holdsSeparator = true;
    this.#isInText = false;
  }

  #showText(text: string, out: GenerationEvent[]): void {
    if (text === "") return;
    let shown = text;
    if (!this.#isInText) {
      if (text.trim() === "") {
        this.#leadingSpace += text;
        return;
      }
      shown = this.#leadingSpace + text;
      this.#leadingSpace = "";
      this.#isInText = true;
      this.#hasVisibleText = true;
    }
    this.#endReasoning(out);
    if (this.#holdsSeparator) {
      this.#holdsSeparator = false;
      const citations = this.#providerCitations.resolveNewIn(this.#shownText);
      this.#shownText += TEXT_SEPARATOR;
      out.push({ type: "text", text: TEXT_SEPARATOR, separator: { citations } });
    }
    this.#emitTextEvent(shown, out);
  }

  #emitTextEvent(text: string, out: GenerationEvent[]): void {
    this.#shownText += text;
    if (this.#tokens.length === 0) out.push({ type: "text", text });
    else {
      out.push({ type: "text", text, tokens: this.#tokens });
      this.#tokens = [];
    }
  }

  #emitReasoning(text: string, out: GenerationEvent[]): void {
    if (!this.#showReasoning) return;
    this.#pushReasoning(this.#reasoningCitations === null ? text : this.#reasoningCitations.push(text), out);
  }

  /** Flushes held reasoning before the answer or at the end: it was not the beginning of a marker. */
  #endReasoning(out: GenerationEvent[]): void {
    if (this.#reasoningCitations !== null) this.#pushReasoning(this.#reasoningCitations.finish(), out);
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
      if (this.#isDone) return;
      switch (event.type) {
        case "text":
          this.#emitText(event.text, out);
          break;
        case "tool-call":
          this.#beginCall(this.#announcedCalls, event.name, randomId("call_"), out);
          break;
        case "tool-arguments":
          this.#appendArguments(event.delta, out);
          break;
        case "tool-call-end":
          this.#endCall(out);
          break;
      }
    }
  }

  #beginCall(index: number, name: string, id: string, out: GenerationEvent[]): void {
    this.#cutOpenCall(out);
    this.#isOmittingCall = !this.#allowsCall(name);
    if (this.#isOmittingCall) {
      this.#omittedCalls += 1;
      return;
    }
    this.#endReasoning(out);
    this.#dropLeading();
    this.#isInText = false;
    this.#openCall = index;
    this.#hasNoArguments = true;
    this.#announcedCalls = Math.max(this.#announcedCalls, index + 1);
    out.push({ type: "tool-call", index, id, name });
  }

  /** Whether a call may follow the request's tool choice. A model may leave out the namespace of a function. */
  #allowsCall(name: string): boolean {
    const forced = this.#forcedFunction;
    return forced === null || forced === name || forced.endsWith(`__${name}`);
  }

  #appendArguments(delta: string, out: GenerationEvent[]): void {
    if (this.#isOmittingCall) return;
    this.#hasNoArguments = false;
    out.push({ type: "tool-arguments", index: this.#openCall, delta });
  }

  #endCall(out: GenerationEvent[]): void {
    if (this.#isOmittingCall) {
      this.#isOmittingCall = false;
      return;
    }
    out.push({ type: "tool-call-end", index: this.#openCall });
    this.#openCall = -1;
    this.#endedCalls += 1;
    this.#isDone = !this.#parallel;
  }

  /** Cuts off the open call, if there is one. */
  #cutOpenCall(out: GenerationEvent[]): void {
    this.#isOmittingCall = false;
    if (this.#openCall < 0) return;
    this.#hasCutCall = true;
    // Many clients read missing arguments as `{}`, so the call gets an incomplete object.
    if (this.#hasNoArguments) this.#appendArguments("{", out);
    this.#openCall = -1;
  }

  /** Drops the held white space. A held separator is due again before the next text. */
  #dropLeading(): void {
    this.#citations?.takeBack(this.#leadingSpace.length);
    this.#leadingSpace = "";
    if (!this.#holdsSeparator) return;
    this.#citations?.takeBack(TEXT_SEPARATOR.length);
    this.#holdsSeparator = false;
    this.#startsSeparateText = true;
  }

  /**
   * The sources of the answer: the search results and the citations, without markers in a text that the caller has not seen
   * yet. Null: there are none.
   */
  sources(): Sources | null {
    const providerCitations = this.#providerCitations.resolveIn(this.#shownText);
    const sources = deduplicateSources([...this.#searchResults, ...providerCitations]);
    if (sources.length === 0) return null;
    const marked = this.#citations?.citations(this.#searchResults) ?? [];
    const citations = [...providerCitations, ...marked].sort((left, right) => left.start - right.start);
    return { queries: [...new Set(this.#searchQueries)], found: sources, citations };
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
function withoutCutCalls(events: readonly ScanEvent[]): ScanEvent[] {
  const endedCalls = new Set(events.map((event) => (event.type === "tool-call-end" ? event.index : -1)));
  return events.filter((event) => event.type === "text" || endedCalls.has(event.index));
}
