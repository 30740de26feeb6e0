import { type Conversation, usesTools } from "../../../core/conversation/conversation.ts";
import type { GenerationEvent, Usage } from "../../../core/conversation/events.ts";
import { randomId } from "../../../core/conversation/ids.ts";
import type { Sources } from "../../../core/conversation/sources.ts";
import { estimateTokens } from "../../../core/conversation/tokens.ts";
import type { ToolDefinition } from "../../../core/conversation/tool.ts";
import {
  mayBeTruncated,
  type ProviderEvent,
  type ProviderFinish,
  type SearchResult,
} from "../../providers/answers/provider-events.ts";
import { type ScanEvent, ToolScanner } from "../../tools/tool-scanner.ts";
import { CallAssembler } from "./call-assembler.ts";
import { linkCitations } from "./citations.ts";
import { TextAssembler } from "./text-assembler.ts";
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
/** Most functions whose names are listed. */
const MAX_FUNCTIONS = 20;

/** All that belongs to one answer. A restarted answer gets a new state. */
interface AnswerState {
  readonly text: TextAssembler;
  readonly calls: CallAssembler;
  /** Null: the conversation uses no tools. */
  textScanner: ToolScanner | null;
  reasoningScanner: ToolScanner | null;
  /** Calls in the reasoning, which are made if the turn has no visible output. */
  reasoningCalls: ScanEvent[];
  /** Text that arrived during a native call and is emitted after it. Null: no call is open. */
  heldText: ModelText[] | null;
  hasRefusal: boolean;
  hasServerTool: boolean;
  finishReason: ProviderFinish;
  stopSequence: string | undefined;
  readonly searchResults: SearchResult[];
  readonly searchQueries: string[];
  messageId: string;
  readonly accountStateIds: Set<string>;
}

/**
 * Converts the provider's events to the caller's: converts tool markup to calls, removes citation markers, and shows
 * reasoning or only searches it for calls (docs/contract.md, tool rule 9). It has no streams, timers or network. One
 * assembler serves one generation, over all of its upstream turns.
 */
export class Assembler {
  readonly #conversation: Conversation;
  /** Null: the conversation uses no tools, so text is not searched for tool markup. */
  readonly #tools: readonly ToolDefinition[] | null;
  readonly #usage: UsageCount;
  #state: AnswerState;

  /** The upstream's raw output of all turns, before translation or trimming (docs/contract.md, general rule 9). */
  rawText = "";
  rawReasoning = "";
  /** The functions that the answer calls, each once. */
  calledFunctions: string[] = [];
  /** Names and arguments of native calls, for estimates. */
  rawCalls = "";
  /** Estimated tokens of the answer's further choices. */
  otherChoiceTokens = 0;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
    this.#tools = usesTools(conversation) ? conversation.tools : null;
    this.#usage = new UsageCount(conversation.model.context);
    this.#state = this.#createState();
  }

  /** Whether the caller has received any visible part of the answer. */
  get hasVisibleOutput(): boolean {
    return this.#state.text.hasVisibleText || this.#state.calls.announced > 0;
  }

  /** Whether the model declined to answer. */
  get hasRefused(): boolean {
    return this.#state.hasRefusal;
  }

  /** Whether the provider has run a tool of its own. */
  get hasServerTool(): boolean {
    return this.#state.hasServerTool;
  }

  /** Whether the model called a function other than the one that the request names. */
  get hasOmittedCall(): boolean {
    return this.#tools !== null && this.#state.calls.omitted > 0;
  }

  /** The number of calls that ended. */
  get endedCalls(): number {
    return this.#state.calls.ended;
  }

  /** Whether the current upstream message must be continued. */
  get isIncomplete(): boolean {
    return this.#state.finishReason === "incomplete" && !this.#state.calls.isDone;
  }

  /** The stop sequence at which the answer ended, if the upstream states it. */
  get stopSequence(): string | undefined {
    return this.#state.stopSequence;
  }

  /** The upstream's id of the current message. */
  get messageId(): string {
    return this.#state.messageId;
  }

  /** Ids of what the answer left at the account. */
  get accountStateIds(): ReadonlySet<string> {
    return this.#state.accountStateIds;
  }

  /** Takes the events of one upstream read, and appends the caller's events to `out`. */
  push(events: readonly ProviderEvent[], out: GenerationEvent[]): void {
    const state = this.#state;
    const { text, calls } = state;
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
          state.hasRefusal = true;
          text.pushRefusal(event.text, out);
          break;
        case "tokens":
          text.pushTokens(event.tokens);
          break;
        case "tool-call":
          this.rawCalls += `${event.name} `;
          if (calls.isDone) break;
          this.#cutNativeCall(out);
          this.#beginCall(calls.nativeIndex(event.index), event.name, event.id, out);
          state.heldText = [];
          break;
        case "tool-arguments":
          this.rawCalls += event.delta;
          if (!calls.isDone) calls.appendArguments(event.delta, out);
          break;
        case "tool-call-end":
          if (calls.isDone) break;
          calls.end(out);
          this.#releaseHeldText(out);
          break;
        case "server-tool":
          state.hasServerTool = true;
          break;
        case "other-choice":
          this.otherChoiceTokens += estimateTokens(event.text);
          break;
        case "account-state":
          state.accountStateIds.add(event.id);
          break;
        case "start":
          state.messageId = event.messageId;
          break;
        case "search":
          for (const result of event.results) state.searchResults.push(result);
          break;
        case "search-query":
          if (state.searchQueries.length < MAX_QUERIES) state.searchQueries.push(event.query);
          break;
        case "citation":
          text.pushCitation(event);
          break;
        case "usage":
          this.#usage.addStatedUsage(event.usage);
          break;
        case "finish":
          state.finishReason = event.reason;
          state.stopSequence = this.#conversation.options.stop?.find(
            (sequence) => sequence === event.stopSequence,
          );
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
      this.calledFunctions = [];
      this.otherChoiceTokens = 0;
    }
    this.#state = this.#createState();
  }

  /** Continues the message in another stream (`isIncomplete`): flushes nothing, keeps the usage of this part. */
  continueTurn(): void {
    this.#usage.endPart();
    this.#state.finishReason = "stop";
  }

  /**
   * Ends an upstream turn: flushes the held output and, when nothing visible came, makes the calls found in the reasoning
   * (docs/contract.md, tool rule 9). A call that has not ended by now counts as cut off.
   */
  finishTurn(out: GenerationEvent[]): TurnEnd {
    const state = this.#state;
    this.#usage.endPart();
    // A turn that is over for the caller counts as a normal finish, whatever follows upstream.
    if (state.calls.isDone) state.finishReason = "tool_calls";
    else this.#flush(out);
    state.text.endTurn(out);
    const hasCutCall = state.calls.endTurn();
    const reason = hasCutCall && !mayBeTruncated(state.finishReason) ? "length" : state.finishReason;
    state.finishReason = "stop";
    state.textScanner = this.#createScanner();
    state.reasoningScanner = this.#createScanner();
    return { isEmpty: !this.hasVisibleOutput && !this.hasOmittedCall, reason };
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

  /**
   * The sources of the answer: the search results and the citations, without markers in a text that the caller has not seen
   * yet. Null: there are none.
   */
  sources(): Sources | null {
    return this.#state.text.sources(this.#state.searchResults, this.#state.searchQueries);
  }

  /**
   * Replaces citation markers in a complete text or reasoning by links to the search results. Also returns the links'
   * positions.
   */
  linkCitations(text: string): ReturnType<typeof linkCitations> {
    return linkCitations(text, this.#state.searchResults);
  }

  #createState(): AnswerState {
    const { stream, thinking, showReasoning } = this.#conversation;
    return {
      text: new TextAssembler(stream, thinking && showReasoning),
      calls: new CallAssembler(this.#conversation, this.#tools !== null),
      textScanner: this.#createScanner(),
      reasoningScanner: this.#createScanner(),
      reasoningCalls: [],
      heldText: null,
      hasRefusal: false,
      hasServerTool: false,
      finishReason: "stop",
      stopSequence: undefined,
      searchResults: [],
      searchQueries: [],
      messageId: "",
      accountStateIds: new Set(),
    };
  }

  #createScanner(): ToolScanner | null {
    return this.#tools === null
      ? null
      : new ToolScanner({ tools: this.#tools, whole: !this.#conversation.stream });
  }

  /** Flushes the held output. */
  #flush(out: GenerationEvent[]): void {
    const state = this.#state;
    this.#cutNativeCall(out);
    const isCut = mayBeTruncated(state.finishReason);
    if (state.textScanner !== null) this.#emitScan(state.textScanner.finish(isCut), out);
    state.text.flushText(out);
    if (state.reasoningScanner !== null) this.#emitReasoningScan(state.reasoningScanner.finish(isCut), out);
    state.text.endReasoning(out);
    state.calls.cut(out);
    if (!this.hasVisibleOutput) this.#emitScan(withoutCutCalls(state.reasoningCalls), out);
    state.reasoningCalls = [];
  }

  #processText(piece: ModelText, out: GenerationEvent[]): void {
    const { calls, heldText, text, textScanner, reasoningScanner } = this.#state;
    if (calls.isDone) return;
    if (heldText !== null) heldText.push(piece);
    else if (piece.type === "text" && piece.isSeparator) this.#endSeparateText(out);
    else if (piece.type === "text") {
      if (textScanner === null) text.pushText(piece.text, out);
      else this.#emitScan(textScanner.push(piece.text), out);
    } else if (reasoningScanner === null) text.pushReasoning(piece.text, out);
    else this.#emitReasoningScan(reasoningScanner.push(piece.text), out);
  }

  /** Emits the text that was held during a native call. */
  #releaseHeldText(out: GenerationEvent[]): void {
    const held = this.#state.heldText ?? [];
    this.#state.heldText = null;
    for (const piece of held) this.#processText(piece, out);
  }

  /** Cuts off a native call that is still open. */
  #cutNativeCall(out: GenerationEvent[]): void {
    if (this.#state.heldText === null) return;
    this.#state.calls.cut(out);
    this.#releaseHeldText(out);
  }

  /** Ends one of several texts. Tool markup never spans two texts. */
  #endSeparateText(out: GenerationEvent[]): void {
    const state = this.#state;
    if (state.textScanner !== null) {
      this.#emitScan(state.textScanner.finish(false), out);
      state.calls.cut(out);
      state.textScanner = this.#createScanner();
    }
    state.text.startSeparateText();
  }

  #emitReasoningScan(events: readonly ScanEvent[], out: GenerationEvent[]): void {
    for (const event of events) {
      if (event.type === "text") this.#state.text.pushReasoning(event.text, out);
      else this.#state.reasoningCalls.push(event);
    }
  }

  #emitScan(events: readonly ScanEvent[], out: GenerationEvent[]): void {
    const { calls, text } = this.#state;
    for (const event of events) {
      if (calls.isDone) return;
      switch (event.type) {
        case "text":
          text.pushText(event.text, out);
          break;
        case "tool-call":
          this.#beginCall(calls.announced, event.name, randomId("call_"), out);
          break;
        case "tool-arguments":
          calls.appendArguments(event.delta, out);
          break;
        case "tool-call-end":
          calls.end(out);
          break;
      }
    }
  }

  #beginCall(index: number, name: string, id: string, out: GenerationEvent[]): void {
    const { calls, text } = this.#state;
    if (!calls.admit(name, out)) return;
    text.endBeforeCall(out);
    calls.begin(index, name, id, out);
    const { calledFunctions } = this;
    if (calledFunctions.length < MAX_FUNCTIONS && !calledFunctions.includes(name)) calledFunctions.push(name);
  }
}

/** Drops the events of calls that did not end: nothing of the reasoning's calls has been shown yet. */
function withoutCutCalls(events: readonly ScanEvent[]): ScanEvent[] {
  const endedCalls = new Set(events.map((event) => (event.type === "tool-call-end" ? event.index : -1)));
  return events.filter((event) => event.type === "text" || endedCalls.has(event.index));
}
