import type { Caller } from "../../auth/callers.ts";
import type { Message, Part } from "../../conversation/conversation.ts";
import type { Completion } from "../../conversation/events.ts";
import type { AnswerInfo } from "../../generation/job.ts";
import type { StreamRenderer } from "../../generation/stream.ts";
import type { Context } from "../../platform/context.ts";
import type { StoredResponse } from "../../platform/responses.ts";
import { forCallers, json } from "../../routing/endpoint.ts";
import { answer, type DialectAnswer } from "../shared/answer.ts";
import { responseAnswers, responseSchema } from "./answers.ts";
import { previousId } from "./echo.ts";
import { newResponseId } from "./ids.ts";
import { outputOf } from "./output.ts";
import { readPrevious, resolveReferences, responseNotFound } from "./references.ts";
import {
  inputItems,
  type ResponsesRequest,
  type ResponsesTurn,
  responsesRequestSchema,
  toTurn,
} from "./request.ts";
import { ResponseObject } from "./response.ts";
import { ResponsesStream } from "./stream.ts";

/** The assistant message that an answer adds to its conversation. */
function assistantMessage(completion: Completion): Message {
  const parts: Part[] = completion.text === "" ? [] : [{ type: "text", text: completion.text }];
  const message: Message = { role: "assistant", parts, toolCalls: completion.toolCalls };
  return completion.reasoning === "" ? message : { ...message, reasoning: completion.reasoning };
}

/** Answers one responses request, and keeps the answer for its caller. */
class ResponsesAnswer implements DialectAnswer {
  readonly #context: Context;
  readonly #caller: Caller;
  readonly #body: ResponsesRequest;
  readonly #turn: ResponsesTurn;
  readonly #id = newResponseId();
  #stream: ResponsesStream | null = null;
  #whole: Record<string, unknown> | null = null;

  constructor(context: Context, caller: Caller, body: ResponsesRequest, turn: ResponsesTurn) {
    this.#context = context;
    this.#caller = caller;
    this.#body = body;
    this.#turn = turn;
  }

  stream(info: AnswerInfo): StreamRenderer {
    const { platform } = this.#context;
    const object = new ResponseObject(this.#id, this.#body, info);
    this.#stream = new ResponsesStream(object, this.#turn.tools, () => platform.now());
    return this.#stream;
  }

  body(completion: Completion, info: AnswerInfo): unknown {
    this.#whole ??= new ResponseObject(this.#id, this.#body, info).in(
      {
        status: "ended",
        reason: completion.finishReason,
        usage: completion.usage,
        completedAt: Math.floor(this.#context.platform.now() / 1000),
      },
      outputOf(completion, this.#id, this.#turn.tools),
    );
    return this.#whole;
  }

  async completed(completion: Completion, info: AnswerInfo): Promise<void> {
    const body = this.#stream?.finalJson ?? JSON.stringify(this.body(completion, info));
    await this.#keep({ body, messages: [...this.#turn.history, assistantMessage(completion)] });
  }

  async failed(): Promise<void> {
    const body = this.#stream?.finalJson ?? null;
    if (body !== null) await this.#keep({ body, messages: [], failed: true });
  }

  async #keep(stored: Omit<StoredResponse, "id" | "expiresAt">): Promise<void> {
    if (this.#body.store === false) return;
    const { platform, log } = this.#context;
    const { config } = await this.#context.config();
    const expiresAt = platform.now() + config.responses.store_ttl_seconds * 1000;
    try {
      await platform.responses(this.#caller.owner).put({ ...stored, id: this.#id, expiresAt });
    } catch (error) {
      // The answer is there and paid for: that it cannot be read again is no reason to withhold it.
      log.cause = `the response was not stored: ${error instanceof Error ? error.name : "unknown error"}`;
    }
  }
}

/** `POST /v1/responses` (contract). */
export const createResponse = forCallers({
  method: "POST",
  path: ["/v1/responses", "/responses"],
  summary: "Create a response",
  body: responsesRequestSchema,
  answers: responseAnswers,
  handler: async (context, { caller, body }) => {
    const { config } = await context.config();
    const store = context.platform.responses(caller.owner);
    const previous = previousId(body);
    const [items, earlier] = await Promise.all([
      resolveReferences(inputItems(body), store),
      previous === null ? [] : readPrevious(store, previous).then(({ messages }) => messages),
    ]);
    const turn = toTurn(body, items, earlier, config.model_aliases);
    const { conversation } = turn;
    return answer({ context, caller, conversation }, new ResponsesAnswer(context, caller, body, turn));
  },
});

/** `GET /v1/responses/{response_id}` (contract): the caller's own stored response, until it expires. */
export const readResponse = forCallers({
  method: "GET",
  path: ["/v1/responses/:response_id", "/responses/:response_id"],
  summary: "Read a stored response",
  answers: json(responseSchema),
  handler: async (context, { caller, params }) => {
    const id = params["response_id"] ?? "";
    const stored = await context.platform.responses(caller.owner).get(id);
    if (stored === null) throw responseNotFound(id, "response_id");
    return new Response(stored.body, { headers: { "content-type": "application/json" } });
  },
});
