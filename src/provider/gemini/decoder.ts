import type { AnswerToken, LikelyToken } from "../../conversation/events.ts";
import { isObject, type JsonObject } from "../../encoding/json.ts";
import { ProviderError } from "../../errors/provider-error.ts";
import { EventStreamDecoder } from "../event-stream.ts";
import { countOf, objectsIn, parseRecord, usageOf } from "../json.ts";
import type { ProviderEvent, ProviderFinish, ProviderUsage } from "../provider.ts";
import { errorFrom } from "../refusal.ts";
import { isUnguessable } from "../thought-memory.ts";
import { ToolCallAssembler } from "../tool-calls.ts";
import { REFUSALS } from "./errors.ts";
import { groundingEvents } from "./grounding.ts";

/** What a decoder of one answer needs to know. */
export interface AnswerContext {
  /** The account's token, which no message may show. */
  readonly secret: string;
  /** Makes an id for a call or an answer to which the backend gave none. */
  readonly newId: () => string;
  /** Is told of each call what the model thought before it, sealed. */
  readonly remember?: (callId: string, signature: string) => void;
}

/** Reads the pieces of one answer; one that came whole is a single piece. */
class Answer {
  readonly #emit: (event: ProviderEvent) => void;
  readonly #context: AnswerContext;
  readonly #calls: ToolCallAssembler;
  /** What came sealed with each call, in order. */
  readonly #signatures: unknown[] = [];
  #started = false;
  #said = "";
  #reason: ProviderFinish | null = null;
  #usage: ProviderUsage | null = null;
  #grounding: JsonObject | null = null;

  constructor(emit: (event: ProviderEvent) => void, context: AnswerContext) {
    this.#emit = emit;
    this.#context = context;
    this.#calls = new ToolCallAssembler(
      (event) => {
        const signature = event.type === "tool-call" ? this.#signatures[event.index] : undefined;
        if (event.type === "tool-call" && typeof signature === "string" && signature !== "") {
          context.remember?.(event.id, signature);
        }
        emit(event);
      },
      () => `call_${context.newId().replaceAll("-", "")}`,
    );
  }

  /** Whether the backend has said why the answer ended. */
  get ended(): boolean {
    return this.#reason !== null;
  }

  take(piece: JsonObject): void {
    const { error, responseId, candidates, promptFeedback, usageMetadata } = piece;
    if (error !== undefined && error !== null) throw errorFrom(piece, 0, this.#context.secret, REFUSALS);
    if (!this.#started) this.#start(responseId);
    if (isObject(usageMetadata)) this.#usage = usageFrom(usageMetadata);
    // There is no answer to a prompt that was blocked.
    if (isObject(promptFeedback) && promptFeedback["blockReason"]) this.#reason ??= "content_filter";
    for (const candidate of objectsIn(candidates)) {
      // Only one is ever asked for.
      if ((candidate["index"] ?? 0) === 0) this.#takeCandidate(candidate);
    }
  }

  /** The backend is done. Throws a `ProviderError` `cut` if it never said why. */
  finish(): void {
    const reason = this.#reason;
    if (reason === null) throw new ProviderError("cut", "the provider's answer was cut off");
    // Calls come whole: one that was cut did not come.
    this.#calls.finish(false);
    if (this.#grounding !== null) {
      for (const event of groundingEvents(this.#grounding, this.#said)) this.#emit(event);
    }
    if (this.#usage !== null) this.#emit({ type: "usage", usage: this.#usage });
    this.#emit({ type: "finish", reason: this.#calls.any && reason === "stop" ? "tool_calls" : reason });
  }

  #start(id: unknown): void {
    this.#started = true;
    const messageId = typeof id === "string" && id !== "" ? id : `resp_${this.#context.newId()}`;
    this.#emit({ type: "start", messageId });
  }

  #takeCandidate(candidate: JsonObject): void {
    const { content, finishReason: reason, groundingMetadata, logprobsResult } = candidate;
    const tokens = isObject(logprobsResult) ? tokensIn(logprobsResult) : [];
    if (tokens.length > 0) this.#emit({ type: "tokens", tokens });
    if (isObject(content)) for (const part of objectsIn(content["parts"])) this.#takePart(part);
    if (isObject(groundingMetadata)) this.#grounding = groundingMetadata;
    if (typeof reason === "string" && reason !== "" && reason !== "FINISH_REASON_UNSPECIFIED") {
      this.#reason = finishReason(reason);
    }
  }

  #takePart({ text, thought, functionCall, thoughtSignature }: JsonObject): void {
    if (isObject(functionCall)) {
      const { id: given, name, args } = functionCall;
      // The protocol goes by the order of calls: one with a short id gets a better one, by which its thoughts are known.
      const id = typeof given === "string" && isUnguessable(given) ? given : undefined;
      const index = this.#signatures.push(thoughtSignature) - 1;
      this.#calls.take({ index, id, function: { name, arguments: isObject(args) ? args : {} } });
      this.#calls.settle();
    }
    if (typeof text !== "string" || text === "") return;
    if (thought === true) {
      this.#emit({ type: "reasoning", text });
    } else {
      this.#said += text;
      this.#emit({ type: "text", text });
    }
  }
}

/** Decodes a streamed answer: it has ended when its stream has, and has said why. */
export class ContentStreamDecoder extends EventStreamDecoder {
  readonly #answer: Answer;

  constructor(context: AnswerContext) {
    super();
    this.#answer = new Answer((event) => this.emit(event), context);
  }

  protected override onEvent(_name: string | undefined, data: string): void {
    if (data === "") return;
    // Servers that speak several protocols add the end mark of another.
    if (data.trim() === "[DONE]") this.onEnd();
    else this.#answer.take(parseRecord(data));
  }

  /** Counts may follow the reason in a piece of their own. */
  protected override onEnd(): void {
    if (!this.#answer.ended) return;
    this.#answer.finish();
    this.markDone();
  }
}

/** The events of an answer that came whole. Throws as a decoder does. */
export function contentEvents(answer: JsonObject, context: AnswerContext): ProviderEvent[] {
  const events: ProviderEvent[] = [];
  const read = new Answer((event) => events.push(event), context);
  read.take(answer);
  read.finish();
  return events;
}

/** What was thought is counted apart from the answer, and so is what the server's own tools gave the model to read. */
function usageFrom(usage: JsonObject): ProviderUsage {
  const sum = (...names: readonly string[]): number | undefined => {
    const counts = names.flatMap((name) => countOf(usage[name]) ?? []);
    return counts.length === 0 ? undefined : counts.reduce((total, count) => total + count, 0);
  };
  return usageOf({
    prompt: sum("promptTokenCount", "toolUsePromptTokenCount"),
    completion: sum("candidatesTokenCount", "thoughtsTokenCount"),
    reasoning: usage["thoughtsTokenCount"],
    cached: usage["cachedContentTokenCount"],
    cacheWritten: undefined,
  });
}

function tokensIn({ chosenCandidates, topCandidates }: JsonObject): readonly AnswerToken[] {
  const tops = objectsIn(topCandidates);
  return objectsIn(chosenCandidates).flatMap((chosen, index) => {
    const token = likely(chosen);
    if (token === null) return [];
    const top = objectsIn(tops[index]?.["candidates"]).flatMap((other) => likely(other) ?? []);
    return [{ ...token, top }];
  });
}

function likely({ token, logProbability }: JsonObject): LikelyToken | null {
  if (typeof token !== "string" || typeof logProbability !== "number" || !Number.isFinite(logProbability))
    return null;
  return { token, logprob: logProbability, bytes: null };
}

/** An unknown reason is a stop: the provider said that it has finished. */
function finishReason(reason: string): ProviderFinish {
  switch (reason) {
    case "MAX_TOKENS":
    case "CONTINUATION":
    // The model began a call that came to nothing: as with other protocols, that is an answer which was cut.
    case "MALFORMED_FUNCTION_CALL":
    case "UNEXPECTED_TOOL_CALL":
    case "TOO_MANY_TOOL_CALLS":
    case "MALFORMED_RESPONSE":
    case "MISSING_THOUGHT_SIGNATURE":
      return "length";
    case "SAFETY":
    case "RECITATION":
    case "LANGUAGE":
    case "BLOCKLIST":
    case "PROHIBITED_CONTENT":
    case "SPII":
    case "IMAGE_SAFETY":
    case "IMAGE_PROHIBITED_CONTENT":
    case "IMAGE_RECITATION":
    case "MODEL_ARMOR":
    // Withheld, for a reason that is not told.
    case "OTHER":
      return "content_filter";
  }
  return "stop";
}
