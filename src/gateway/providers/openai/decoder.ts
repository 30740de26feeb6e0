import type { AnswerToken } from "../../../core/conversation/events.ts";
import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { ProviderError } from "../../../core/errors/provider-error.ts";
import { EventStreamDecoder } from "../answers/event-stream.ts";
import { readLogprobs } from "../answers/logprobs.ts";
import {
  mayBeTruncated,
  type ProviderEvent,
  type ProviderFinish,
  type ProviderUsage,
} from "../answers/provider-events.ts";
import { ToolCallAssembler } from "../answers/tool-call-assembler.ts";
import { type ErrorKinds, toProviderError } from "../errors/error-response.ts";
import { parseRecord, readUsage } from "../json.ts";
import { readChoiceText } from "./choice-text.ts";
import { SourceCollector } from "./source-collector.ts";
import { type TaggedPiece, ThinkTagSplitter } from "./think-tags.ts";

/**
 * The meaning of errors inside an answer, which have no HTTP status. Error responses are not mapped by type: servers
 * differ too much.
 */
const ERROR_TYPES: ErrorKinds = {
  codes: new Map([
    ["invalid_request_error", "invalid_request"],
    ["rate_limit_error", "rate_limited"],
    ["overloaded_error", "model_unavailable"],
  ]),
};

/** The context for decoding one answer. */
export interface AnswerContext {
  /** The account's token, which no error message may contain. */
  readonly secret: string;
  /** Creates an id for a call or a message without an id from the backend. */
  readonly newId: () => string;
  /** Reasoning between tags in the text stays text: the caller gets the backend's own bytes. */
  readonly keepsThinkTags?: boolean;
}

/**
 * Reads the chunks of one answer. Only `finish` emits the end, because usage follows the finish reason in a separate
 * chunk.
 */
class Answer {
  readonly #emit: (event: ProviderEvent) => void;
  readonly #context: AnswerContext;
  /** Whether the answer is not streamed: then each entry of its tool calls is a whole call. */
  readonly #isWhole: boolean;
  readonly #calls: ToolCallAssembler;
  #started = false;
  #visible = false;
  #reason: ProviderFinish | null = null;
  #stopSequence: string | null = null;
  #usage: ProviderUsage | null = null;
  readonly #sources = new SourceCollector();
  readonly #thinkTags = new ThinkTagSplitter();
  /** Tokens of text that may turn out to be reasoning. */
  #heldTokens: AnswerToken[] = [];
  /** Characters of text so far. */
  #textLength = 0;

  constructor(emit: (event: ProviderEvent) => void, context: AnswerContext, isWhole: boolean) {
    this.#emit = emit;
    this.#context = context;
    this.#isWhole = isWhole;
    this.#calls = new ToolCallAssembler(emit, () => `call_${context.newId()}`);
    if (context.keepsThinkTags === true) this.#thinkTags.skip();
  }

  /** Whether the backend has stated a finish reason. */
  get ended(): boolean {
    return this.#reason !== null;
  }

  take(chunk: JsonObject): void {
    const { id, error, choices, usage } = chunk;
    if (error !== undefined && error !== null) {
      throw toProviderError(chunk, 0, this.#context.secret, ERROR_TYPES);
    }
    if (!this.#started) this.#start(id);
    if (isObject(usage)) this.#usage = toUsage(usage);
    this.#sources.takeFound(chunk);
    if (!Array.isArray(choices)) return;
    for (const choice of choices) if (isObject(choice)) this.#takeChoice(choice);
  }

  /**
   * Ends the answer. `sawDone` is true if the backend itself ended it (`[DONE]`, or a non-streamed answer). Then a
   * complete answer is accepted without a finish reason; otherwise throws `cut`.
   */
  finish(sawDone: boolean): void {
    const isComplete = sawDone && (this.#visible || this.#calls.any) && this.#calls.complete;
    if (this.#reason === null && !isComplete) {
      throw new ProviderError("cut", "the provider's answer was cut off");
    }
    const reason = this.#reason ?? "stop";
    this.#emitPieces(this.#thinkTags.finish());
    this.#calls.finish(mayBeTruncated(reason));
    for (const event of this.#sources.events()) this.#emit(event);
    if (this.#usage !== null) this.#emit({ type: "usage", usage: this.#usage });
    // Several engines report `stop` after tool calls.
    const reportedReason = this.#calls.any && reason === "stop" ? "tool_calls" : reason;
    const stopFields = this.#stopSequence === null ? {} : { stopSequence: this.#stopSequence };
    this.#emit({ type: "finish", reason: reportedReason, ...stopFields });
  }

  #start(id: unknown): void {
    this.#started = true;
    this.#emit({
      type: "start",
      messageId: typeof id === "string" && id !== "" ? id : `chatcmpl-${this.#context.newId()}`,
    });
  }

  #takeChoice(choice: JsonObject): void {
    const { index, delta, message, logprobs, finish_reason: reason } = choice;
    // The gateway itself requests one choice. The caller of a native request may want more.
    if (typeof index === "number" && index !== 0) {
      const text = readChoiceText(choice);
      if (text !== "") this.#emit({ type: "other-choice", text });
      return;
    }
    const piece = isObject(delta) ? delta : message;
    const tokens = readLogprobs(isObject(logprobs) ? logprobs["content"] : null);
    // Some engines also state the tokens of the reasoning.
    const thought = isObject(delta) && (delta["reasoning_content"] || delta["reasoning"]);
    if (!thought) this.#takeTokens(tokens);
    if (isObject(piece)) {
      this.#takeDelta(piece);
      const textStart = -(this.#thinkTags.textOffset ?? 0);
      this.#sources.takeAnnotations(piece["annotations"], textStart, this.#textLength);
    }
    // The choice of a text completion.
    else this.#takeText(choice["text"]);
    if (typeof reason === "string" && reason !== "") this.#reason = finishReason(reason);
    // The field names of vLLM and SGLang. A number is the id of one of the model's own stop tokens.
    const sequence = choice["stop_reason"] ?? choice["matched_stop"];
    if (typeof sequence === "string") this.#stopSequence = sequence;
  }

  #takeDelta(delta: JsonObject): void {
    const { reasoning_content, reasoning, content, refusal, tool_calls, function_call, audio } = delta;
    // Later turns name the audio by its id.
    if (isObject(audio) && typeof audio["id"] === "string") {
      this.#emit({ type: "account-state", id: audio["id"] });
    }
    this.#takeReasoning(reasoning_content || reasoning);
    if (Array.isArray(content)) for (const part of content) this.#takePart(part);
    else this.#takeText(content);
    if (typeof refusal === "string" && refusal !== "") {
      this.#visible = true;
      this.#emit({ type: "refusal", text: refusal });
    }
    if (tool_calls || isObject(function_call)) this.#emitPieces(this.#thinkTags.skip());
    if (tool_calls) this.#calls.take(tool_calls, this.#isWhole);
    else if (isObject(function_call)) this.#calls.take({ index: 0, ...function_call });
  }

  /** Reads a content part: text, or thinking with parts of its own. */
  #takePart(part: unknown): void {
    if (!isObject(part)) return;
    const { text, thinking, refusal } = part;
    this.#takeText(text);
    if (typeof refusal === "string" && refusal !== "") this.#takeDelta({ refusal });
    if (Array.isArray(thinking)) {
      for (const piece of thinking) if (isObject(piece)) this.#takeReasoning(piece["text"]);
    } else {
      this.#takeReasoning(thinking);
    }
  }

  #takeText(text: unknown): void {
    if (typeof text !== "string" || text === "") return;
    this.#visible = true;
    this.#calls.settle();
    this.#emitPieces(this.#thinkTags.push(text));
  }

  #emitPieces(pieces: readonly TaggedPiece[]): void {
    this.#releaseTokens();
    for (const piece of pieces) {
      if (piece.type === "text") this.#textLength += piece.text.length;
      this.#emit(piece);
    }
  }

  #takeTokens(tokens: readonly AnswerToken[]): void {
    if (tokens.length === 0) return;
    if (this.#thinkTags.textOffset !== null) this.#emit({ type: "tokens", tokens });
    else for (const token of tokens) this.#heldTokens.push(token);
  }

  /** Emits the held tokens without those of the reasoning, once the text has begun. */
  #releaseTokens(): void {
    let skipped = this.#thinkTags.textOffset;
    if (skipped === null || this.#heldTokens.length === 0) return;
    const tokens: AnswerToken[] = [];
    for (const token of this.#heldTokens) {
      if (skipped <= 0) tokens.push(token);
      skipped -= token.token.length;
    }
    this.#heldTokens = [];
    if (tokens.length > 0) this.#emit({ type: "tokens", tokens });
  }

  #takeReasoning(text: unknown): void {
    if (typeof text !== "string" || text === "") return;
    this.#calls.settle();
    this.#emitPieces(this.#thinkTags.skip());
    this.#emit({ type: "reasoning", text });
  }
}

/** Whether a chunk has more than the role of the answer. */
function hasContent({ choices }: JsonObject): boolean {
  if (!Array.isArray(choices)) return false;
  return choices.some((choice) => {
    if (!isObject(choice)) return false;
    const { delta, text, finish_reason: reason } = choice;
    const members = isObject(delta) ? Object.entries(delta) : [];
    return (
      !!reason || !!text || members.some(([name, value]) => name !== "role" && value !== null && value !== "")
    );
  });
}

/** Decodes a streamed chat completion. */
export class CompletionStreamDecoder extends EventStreamDecoder {
  readonly #answer: Answer;

  constructor(context: AnswerContext) {
    super();
    this.#answer = new Answer((event) => this.emit(event), context, false);
  }

  protected override onEvent(_name: string | undefined, data: string): void {
    if (data === "" || data.trim() === "[DONE]") {
      if (data !== "") this.#end(true);
      return;
    }
    const chunk = parseRecord(data);
    this.#answer.take(chunk);
    if (hasContent(chunk)) this.contentEvents += 1;
  }

  /** The backend may omit `[DONE]` after a finish reason. */
  protected override onEnd(): void {
    if (this.#answer.ended) this.#end(false);
  }

  #end(sawDone: boolean): void {
    this.#answer.finish(sawDone);
    this.markDone();
  }
}

/** Returns the events of a non-streamed chat completion. Throws the same errors as a decoder. */
export function completionEvents(completion: JsonObject, context: AnswerContext): ProviderEvent[] {
  const events: ProviderEvent[] = [];
  const answer = new Answer((event) => events.push(event), context, true);
  answer.take(completion);
  answer.finish(true);
  return events;
}

/** Some backends state the detailed counts at the top level instead of in the `…_details` members of the public API. */
function toUsage(usage: JsonObject): ProviderUsage {
  const { prompt_tokens_details: promptDetails, completion_tokens_details: completionDetails } = usage;
  const read = isObject(promptDetails) ? promptDetails : usage;
  const written = isObject(completionDetails) ? completionDetails : usage;
  const { server_tool_use: serverTools } = usage;
  const tools = isObject(serverTools) ? serverTools : usage;
  const counts = readUsage({
    prompt: usage["prompt_tokens"],
    completion: usage["completion_tokens"],
    reasoning: written["reasoning_tokens"],
    cached: read["cached_tokens"] ?? usage["prompt_cache_hit_tokens"],
    cacheWritten: read["cache_write_tokens"],
    audioInput: isObject(promptDetails) ? promptDetails["audio_tokens"] : undefined,
    audioOutput: isObject(completionDetails) ? completionDetails["audio_tokens"] : undefined,
    imageInput: isObject(promptDetails) ? promptDetails["image_tokens"] : undefined,
    imageOutput: isObject(completionDetails) ? completionDetails["image_tokens"] : undefined,
    webSearches: tools["web_search_requests"] ?? tools["num_search_queries"],
  });
  return withReasoning(counts, usage["total_tokens"]);
}

/** Some backends count reasoning apart from the completion. Their total, or a smaller completion, shows it. */
function withReasoning(counts: ProviderUsage, total: unknown): ProviderUsage {
  const { prompt = 0, completion, reasoning = 0 } = counts;
  if (completion === undefined) return counts;
  const sum = completion + reasoning;
  return reasoning > completion || total === prompt + sum ? { ...counts, completion: sum } : counts;
}

function finishReason(reason: string): ProviderFinish {
  switch (reason) {
    case "length":
    case "model_length":
    case "max_tokens":
    case "max_output_tokens":
      return "length";
    case "tool_calls":
    case "function_call":
      return "tool_calls";
    case "content_filter":
      return "content_filter";
    // Engines give these reasons for an answer that they could not complete.
    case "abort":
    case "error":
    case "insufficient_system_resource":
      throw new ProviderError("server_error", "the provider gave up in the middle of its answer");
  }
  return "stop";
}
