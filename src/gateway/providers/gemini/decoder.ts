import type { AnswerToken, LikelyToken } from "../../../core/conversation/events.ts";
import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { ProviderError } from "../../../core/errors/provider-error.ts";
import { EventStreamDecoder } from "../answers/event-stream.ts";
import type { ProviderEvent, ProviderFinish, ProviderUsage } from "../answers/provider-events.ts";
import { isUnguessable } from "../answers/reasoning-cache.ts";
import { ToolCallAssembler } from "../answers/tool-call-assembler.ts";
import { toProviderError } from "../errors/error-response.ts";
import { objectsIn, parseRecord, readCount, readUsage } from "../json.ts";
import { BareErrorReader } from "./bare-error.ts";
import { ERROR_KINDS } from "./errors.ts";
import { toGroundingEvents } from "./grounding.ts";
import { PartialArguments } from "./partial-arguments.ts";

/** What the decoder of one answer needs. */
export interface AnswerContext {
  /** The account's token. No error message may contain it. */
  readonly secret: string;
  /** Creates an id for a call or an answer that the backend sent without one. */
  readonly newId: () => string;
  /** Called for each tool call that has a thought signature. */
  readonly rememberSignature?: (callId: string, signature: string) => void;
}

/** A tool call whose arguments arrive in pieces. */
interface OpenCall {
  readonly id: unknown;
  readonly name: unknown;
  signature: unknown;
  readonly partial: PartialArguments;
}

/** Parses the chunks of one answer. A whole (not streamed) answer is a single chunk. */
class AnswerParser {
  readonly #emit: (event: ProviderEvent) => void;
  readonly #context: AnswerContext;
  readonly #calls: ToolCallAssembler;
  /** The thought signature of each call, in the order of the calls. */
  readonly #signatures: unknown[] = [];
  #openCall: OpenCall | null = null;
  #started = false;
  #text = "";
  #reason: ProviderFinish | null = null;
  #usage: ProviderUsage | null = null;
  #grounding: JsonObject | null = null;
  /** How many pages the backend's URL tool read. */
  #fetches = 0;

  constructor(emit: (event: ProviderEvent) => void, context: AnswerContext) {
    this.#emit = emit;
    this.#context = context;
    this.#calls = new ToolCallAssembler(
      (event) => {
        const signature = event.type === "tool-call" ? this.#signatures[event.index] : undefined;
        if (event.type === "tool-call" && typeof signature === "string" && signature !== "") {
          context.rememberSignature?.(event.id, signature);
        }
        emit(event);
      },
      () => `call_${context.newId().replaceAll("-", "")}`,
    );
  }

  /** Whether the backend has sent a finish reason. */
  get hasFinishReason(): boolean {
    return this.#reason !== null;
  }

  addChunk(piece: JsonObject): void {
    const { error, responseId, candidates, promptFeedback, usageMetadata } = piece;
    if (error !== undefined && error !== null)
      throw toProviderError(piece, 0, this.#context.secret, ERROR_KINDS);
    if (!this.#started) this.#start(responseId);
    if (isObject(usageMetadata)) this.#addUsage(toUsage(usageMetadata));
    // A blocked prompt has no answer.
    if (isObject(promptFeedback) && promptFeedback["blockReason"]) this.#reason ??= "content_filter";
    for (const candidate of objectsIn(candidates)) {
      // The gateway never requests more than one candidate.
      if ((candidate["index"] ?? 0) === 0) this.#takeCandidate(candidate);
    }
  }

  /** Ends the answer. Throws a `ProviderError` `cut` if the backend sent no finish reason. */
  finish(): void {
    const reason = this.#reason;
    if (reason === null) throw new ProviderError("cut", "the provider's answer was cut off");
    const open = this.#openCall;
    // A call without its end gets no arguments: a part of them could be another command.
    if (open !== null) this.#takeCall(open, null);
    this.#calls.finish(open !== null);
    if (this.#grounding !== null) {
      for (const event of toGroundingEvents(this.#grounding, this.#text)) this.#emit(event);
    }
    const usage = { ...this.#usage, ...this.#countWebRequests() };
    if (Object.keys(usage).length > 0) this.#emit({ type: "usage", usage });
    this.#emit({ type: "finish", reason: this.#calls.any && reason === "stop" ? "tool_calls" : reason });
  }

  #start(id: unknown): void {
    this.#started = true;
    const messageId = typeof id === "string" && id !== "" ? id : `resp_${this.#context.newId()}`;
    this.#emit({ type: "start", messageId });
  }

  /** Takes the latest counts. The first ones are emitted at once: an interrupted answer never states its final counts. */
  #addUsage(usage: ProviderUsage): void {
    const isFirst = this.#usage === null;
    this.#usage = usage;
    if (!isFirst || usage.prompt === undefined || usage.completion === undefined) return;
    this.#emit({ type: "usage", usage });
  }

  #takeCandidate(candidate: JsonObject): void {
    const {
      content,
      finishReason: reason,
      groundingMetadata,
      urlContextMetadata,
      logprobsResult,
    } = candidate;
    const tokens = isObject(logprobsResult) ? readTokens(logprobsResult) : [];
    if (tokens.length > 0) this.#emit({ type: "tokens", tokens });
    if (isObject(content)) for (const part of objectsIn(content["parts"])) this.#takePart(part);
    if (isObject(groundingMetadata)) this.#grounding = groundingMetadata;
    if (isObject(urlContextMetadata)) this.#fetches = objectsIn(urlContextMetadata["urlMetadata"]).length;
    if (typeof reason === "string" && reason !== "" && reason !== "FINISH_REASON_UNSPECIFIED") {
      this.#reason = finishReason(reason);
    }
  }

  /** The usage does not state requests of the backend's own tools. */
  #countWebRequests(): ProviderUsage {
    const queries = this.#grounding?.["webSearchQueries"];
    const searches = Array.isArray(queries) ? queries.length : 0;
    return {
      ...(searches === 0 ? {} : { webSearches: searches }),
      ...(this.#fetches === 0 ? {} : { webFetches: this.#fetches }),
    };
  }

  #takePart({ text, thought, functionCall, thoughtSignature }: JsonObject): void {
    if (isObject(functionCall)) this.#addToCall(functionCall, thoughtSignature);
    if (typeof text !== "string" || text === "") return;
    if (thought === true) {
      this.#emit({ type: "reasoning", text });
    } else {
      this.#text += text;
      this.#emit({ type: "text", text });
    }
  }

  /** Takes a call, or a piece of the open one. The first piece has the name; the last one has no `willContinue`. */
  #addToCall({ id, name, args, partialArgs, willContinue }: JsonObject, signature: unknown): void {
    if (this.#openCall !== null && typeof name === "string" && name !== "") this.#endCall({});
    this.#openCall ??= { id, name, signature, partial: new PartialArguments() };
    this.#openCall.signature ??= signature;
    this.#openCall.partial.add(partialArgs);
    if (willContinue !== true) this.#endCall(isObject(args) ? args : {});
  }

  /** Ends the open call. Its arguments are `whole`, or else the pieces. */
  #endCall(whole: JsonObject): void {
    const call = this.#openCall;
    this.#openCall = null;
    if (call === null) return;
    this.#takeCall(call, Object.keys(whole).length > 0 ? whole : call.partial.build());
    this.#calls.settle();
  }

  #takeCall({ id: wireId, name, signature }: OpenCall, args: JsonObject | null): void {
    // The protocol matches calls by their order, so the gateway may replace an id. It replaces guessable ids:
    // the id is the key to the remembered thought signature.
    const id = typeof wireId === "string" && isUnguessable(wireId) ? wireId : undefined;
    const index = this.#signatures.push(signature) - 1;
    this.#calls.take({ index, id, function: { name, arguments: args } });
  }
}

/** Decodes a streamed answer. The answer is complete when its stream has ended and a finish reason has come. */
export class ContentStreamDecoder extends EventStreamDecoder {
  readonly #answer: AnswerParser;
  readonly #bareErrors = new BareErrorReader();

  constructor(context: AnswerContext) {
    super();
    this.#answer = new AnswerParser((event) => this.emit(event), context);
  }

  protected override onEvent(_name: string | undefined, data: string): void {
    if (data === "") return;
    // Servers with several protocols may send the end mark of another protocol.
    if (data.trim() === "[DONE]") this.onEnd();
    else {
      const chunk = parseRecord(data);
      this.#answer.addChunk(chunk);
      if (chunk["candidates"] !== undefined || chunk["promptFeedback"] !== undefined) this.contentEvents += 1;
    }
  }

  protected override onText(text: string): void {
    const error = this.#bareErrors.push(text);
    if (error !== null) this.#answer.addChunk(error);
  }

  /** Token counts may follow the finish reason in a separate chunk, so the answer ends only with its stream. */
  protected override onEnd(): void {
    if (!this.#answer.hasFinishReason) return;
    this.#answer.finish();
    this.markDone();
  }
}

/** Decodes a whole (not streamed) answer. Throws the same errors as the stream decoder. */
export function decodeWholeAnswer(answer: JsonObject, context: AnswerContext): ProviderEvent[] {
  const events: ProviderEvent[] = [];
  const read = new AnswerParser((event) => events.push(event), context);
  read.addChunk(answer);
  read.finish();
  return events;
}

/**
 * Adds up token counts: the backend counts thinking apart from the answer, and the input from its own tools apart from
 * the prompt.
 */
function toUsage(usage: JsonObject): ProviderUsage {
  const sum = (...names: readonly string[]): number | undefined => {
    const counts = names.flatMap((name) => readCount(usage[name]) ?? []);
    return counts.length === 0 ? undefined : counts.reduce((total, count) => total + count, 0);
  };
  return readUsage({
    prompt: sum("promptTokenCount", "toolUsePromptTokenCount"),
    completion: sum("candidatesTokenCount", "thoughtsTokenCount"),
    reasoning: usage["thoughtsTokenCount"],
    cached: usage["cachedContentTokenCount"],
    audioInput: countModality(usage["promptTokensDetails"], "AUDIO"),
    audioOutput: countModality(usage["candidatesTokensDetails"], "AUDIO"),
    imageInput: countModality(usage["promptTokensDetails"], "IMAGE"),
    imageOutput: countModality(usage["candidatesTokensDetails"], "IMAGE"),
  });
}

/** The tokens of one modality. Undefined: there are none. */
function countModality(modalities: unknown, name: "AUDIO" | "IMAGE"): number | undefined {
  return readCount(objectsIn(modalities).find(({ modality }) => modality === name)?.["tokenCount"]);
}

function readTokens({ chosenCandidates, topCandidates }: JsonObject): readonly AnswerToken[] {
  const tops = objectsIn(topCandidates);
  return objectsIn(chosenCandidates).flatMap((chosen, index) => {
    const token = toLikelyToken(chosen);
    if (token === null) return [];
    const top = objectsIn(tops[index]?.["candidates"]).flatMap((entry) => toLikelyToken(entry) ?? []);
    return [{ ...token, top }];
  });
}

function toLikelyToken({ token, logProbability }: JsonObject): LikelyToken | null {
  if (typeof token !== "string" || typeof logProbability !== "number" || !Number.isFinite(logProbability))
    return null;
  return { token, logprob: logProbability, bytes: null };
}

/** An unknown reason counts as `stop`: the provider said that it has finished. */
function finishReason(reason: string): ProviderFinish {
  switch (reason) {
    case "MAX_TOKENS":
    case "CONTINUATION":
    // The model began a call that failed. As with other protocols, that is an answer which was cut off.
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
    // The backend withheld the answer without stating a reason.
    case "OTHER":
      return "content_filter";
  }
  return "stop";
}
