import type { Caller } from "../../../core/auth/callers.ts";
import type { Message, Part } from "../../../core/conversation/conversation.ts";
import type { Completion } from "../../../core/conversation/events.ts";
import type { JsonObject } from "../../../core/encoding/json.ts";
import { EVENT_STREAM_HEADERS } from "../../../core/http/event-stream.ts";
import type { Context } from "../../../core/ports/context.ts";
import type { StoredResponse } from "../../../core/ports/responses.ts";
import { respondWithinBudget } from "../../../core/routing/budgeted-response.ts";
import type { AnswerInfo } from "../../generation/generation-job.ts";
import type { StreamRenderer } from "../../generation/stream.ts";
import type { DialectAnswerRenderer } from "../shared/answer-conversation.ts";
import { newResponseId } from "./ids.ts";
import { readNativeResponse } from "./native.ts";
import { toOutputItems as outputItems } from "./output.ts";
import { toPublicInputItems } from "./public-input-items.ts";
import { getStoredInput, getStoredOutput } from "./references.ts";
import type { ResponsesRequest } from "./request.ts";
import { ResponseObjectBuilder } from "./response.ts";
import type { ResponsesInput } from "./responses-input.ts";
import { ResponsesStream } from "./stream.ts";

/** Builds the assistant message that an answer adds to its conversation. */
function toAssistantMessage(completion: Completion): Message {
  const answerText = completion.text + (completion.refusal ?? "");
  const parts: Part[] = answerText === "" ? [] : [{ type: "text", text: answerText }];
  const message: Message = { role: "assistant", parts, toolCalls: completion.toolCalls };
  return completion.reasoning === "" ? message : { ...message, reasoning: completion.reasoning };
}

/** Answers one responses request and stores the answer for its caller. */
export class ResponsesAnswer implements DialectAnswerRenderer {
  readonly #context: Context;
  readonly #caller: Caller;
  readonly #body: ResponsesRequest;
  readonly #responsesInput: ResponsesInput;
  #id = newResponseId();
  #stream: ResponsesStream | null = null;
  #whole: Record<string, unknown> | null = null;

  constructor(context: Context, caller: Caller, body: ResponsesRequest, responsesInput: ResponsesInput) {
    this.#context = context;
    this.#caller = caller;
    this.#body = body;
    this.#responsesInput = responsesInput;
  }

  stream(info: AnswerInfo): StreamRenderer {
    const { platform } = this.#context;
    const object = new ResponseObjectBuilder(this.#id, this.#body, info);
    this.#stream = new ResponsesStream(
      object,
      this.#responsesInput.translated.tools,
      () => platform.now(),
      info.conversation.webSearch !== undefined,
    );
    return this.#stream;
  }

  body(completion: Completion, info: AnswerInfo): unknown {
    this.#whole ??= new ResponseObjectBuilder(this.#id, this.#body, info).build(
      {
        status: "ended",
        reason: completion.finishReason,
        usage: completion.usage,
        completedAt: Math.floor(this.#context.platform.now() / 1000),
      },
      outputItems(
        completion,
        this.#id,
        this.#responsesInput.translated.tools,
        info.conversation.webSearch !== undefined,
      ),
    );
    return this.#whole;
  }

  async completed(completion: Completion, info: AnswerInfo): Promise<void> {
    const body = this.#stream?.finalJson ?? JSON.stringify(this.body(completion, info));
    await this.#store({
      body,
      messages: [...this.#responsesInput.translated.history, toAssistantMessage(completion)],
    });
  }

  /** Stores the provider's own response object, under the provider's id. */
  async completedNative(completion: Completion, last: Uint8Array): Promise<void> {
    const response = readNativeResponse(last);
    if (response === null) return;
    this.#id = String(response["id"]);
    await this.#store({
      body: JSON.stringify(response),
      messages: [...this.#responsesInput.translated.history, toAssistantMessage(completion)],
    });
  }

  async failed(): Promise<void> {
    const body = this.#stream?.finalJson ?? null;
    if (body !== null) await this.#store({ body, messages: [], failed: true });
  }

  /**
   * Answers a request with `generate: false`: an empty response that later requests can continue. Agents use it to send the
   * beginning of a conversation ahead of time.
   */
  async answerWithoutGeneration(): Promise<Response> {
    const { conversation } = this.#responsesInput.translated;
    const created = Math.floor(this.#context.startedAt / 1000);
    const info: AnswerInfo = {
      conversation,
      requestId: this.#context.requestId,
      created,
      promptTokens: () => 0,
    };
    const emptyCompletion: Completion = {
      sessionId: "",
      text: "",
      reasoning: "",
      toolCalls: [],
      finishReason: "stop",
      usage: { prompt: 0, completion: 0, reasoning: 0 },
    };
    const { finishReason: reason, usage } = emptyCompletion;
    const stream = conversation.stream ? this.stream(info) : null;
    const text = [
      stream?.push({ type: "start", sessionId: "" }),
      stream?.push({ type: "finish", reason, usage }),
    ].join("");
    const body = this.#stream?.finalJson ?? JSON.stringify(this.body(emptyCompletion, info));
    await this.#store({ body, messages: this.#responsesInput.translated.history });
    const type = { "content-type": "application/json" };
    return stream === null
      ? respondWithinBudget(this.#context, body, { headers: type })
      : respondWithinBudget(this.#context, text, { headers: EVENT_STREAM_HEADERS });
  }

  /** Whether later requests can read the response. */
  get isStored(): boolean {
    return this.#body.store !== false;
  }

  /** Whether the response is kept. */
  get needsNativeEnd(): boolean {
    return this.isStored || this.#context.connection !== undefined;
  }

  async #store(result: Omit<StoredResponse, "id" | "input" | "expiresAt">): Promise<void> {
    if (!this.needsNativeEnd) return;
    const { platform, facts, connection, startedAt } = this.#context;
    const { config } = await this.#context.config();
    const expiresAt = platform.now() + config.responses.store_ttl_seconds * 1000;
    const response = { ...result, id: this.#id, input: JSON.stringify(this.#inputItems()), expiresAt };
    if (result.failed !== true) connection?.put(response);
    if (!this.isStored) return;
    try {
      await platform.responses(this.#caller.owner, startedAt).put(response);
    } catch (error) {
      // Do not fail the request: the answer exists and is paid for. It only cannot be read again later.
      facts.cause = `the response was not stored: ${error instanceof Error ? error.name : "unknown error"}`;
    }
  }

  /** Returns the input items of the whole conversation up to this answer. */
  #inputItems(): JsonObject[] {
    const { previous, items } = this.#responsesInput;
    const previousItems =
      previous === null ? [] : [...getStoredInput(previous), ...getStoredOutput(previous)];
    return [...previousItems, ...toPublicInputItems(items, this.#id)];
  }
}
