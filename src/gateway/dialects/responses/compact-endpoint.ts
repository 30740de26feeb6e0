import { type Conversation, joinText, type Message } from "../../../core/conversation/conversation.ts";
import { randomId } from "../../../core/conversation/ids.ts";
import type { JsonObject } from "../../../core/encoding/json.ts";
import { lazyLooseObject } from "../../../core/encoding/lazy-schema.ts";
import { upstreamFailure } from "../../../core/errors/gateway-error.ts";
import { respondJsonWithinBudget } from "../../../core/routing/budgeted-response.ts";
import { callerEndpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { generateCompletion } from "../../generation/complete.ts";
import { compactionSchema } from "./answers.ts";
import { newResponseId } from "./ids.ts";
import { toPublicInputItems } from "./public-input-items.ts";
import { getStoredInput } from "./references.ts";
import { type ResponsesRequest, responsesRequestSchema } from "./request.ts";
import { getPreviousResponseId } from "./request-fields.ts";
import { CHAT_USAGE, type ResponsesInput, readResponsesInput } from "./responses-input.ts";
import { encodeSummary } from "./summary-encoding.ts";
import { toResponseUsage } from "./usage.ts";

const SUMMARY_INSTRUCTION = `The conversation above becomes too long and is about to be replaced by a summary. Write that summary now, for whoever goes on with the work without having seen the conversation. Keep everything that is needed to go on:
- what was asked for, with all constraints and preferences that were stated;
- what has been done and found out, with exact names, paths, numbers, commands and errors;
- what was decided, and why;
- what is still open, and the next step.
Write the summary alone. Do not answer the conversation, and call no tools.`;

/**
 * Converts tool calls and results of a message to plain text. Otherwise a provider would require the tools that they refer
 * to.
 */
function toPlainTextMessage(message: Message): Message {
  switch (message.role) {
    case "assistant": {
      const calls = message.toolCalls.map(({ name, arguments: text }) => `[called ${name} with ${text}]`);
      const text = [joinText(message.parts), ...calls].filter((line) => line !== "").join("\n");
      return { role: "assistant", parts: [{ type: "text", text }], toolCalls: [] };
    }
    case "tool": {
      const head = `[result of ${message.name ?? message.callId}]`;
      return { role: "user", parts: [{ type: "text", text: head }, ...message.parts] };
    }
    default:
      return message;
  }
}

/** Builds the conversation that asks the model for the summary. */
function buildSummaryConversation({ translated: { conversation } }: ResponsesInput): Conversation {
  const order: Message = { role: "user", parts: [{ type: "text", text: SUMMARY_INSTRUCTION }] };
  return {
    ...conversation,
    messages: [...conversation.messages.map(toPlainTextMessage), order],
    tools: [],
    toolChoice: { type: "none" },
    thinking: false,
    showReasoning: false,
    responseFormat: { type: "text" },
    stream: false,
  };
}

/** Returns whether to keep an item word for word: messages of users and developers, as in the real service. */
function isPreserved({ type, role }: JsonObject): boolean {
  return type === "message" && role !== "assistant";
}

/** If a request only continues a response and has no input of its own, adds an empty input. */
function withDefaultInput(body: ResponsesRequest): ResponsesRequest {
  const empty = (body.input ?? body.messages ?? null) === null;
  return empty && getPreviousResponseId(body) !== null ? { ...body, input: [] } : body;
}

/**
 * `POST /v1/responses/compact` (docs/contract/generations.md): compacts a conversation. The answer contains the
 * messages of users and developers unchanged, and one item with a summary of everything. Sent back as input, this item
 * replaces the compacted conversation.
 */
export const compactResponse = callerEndpoint({
  method: "POST",
  path: ["/v1/responses/compact", "/responses/compact"],
  summary: "Compact a conversation",
  acceptsIdempotencyKey: true,
  body: lazyLooseObject(() => responsesRequestSchema.shape),
  answers: jsonResponse(compactionSchema),
  handler: async (context, { caller, body }) => {
    const responsesInput = await readResponsesInput(context, caller, withDefaultInput(body), CHAT_USAGE);
    const { completion } = await generateCompletion({
      context,
      caller,
      conversation: buildSummaryConversation(responsesInput),
      retainedData: [body, responsesInput],
    });
    const { text, finishReason, usage } = completion;
    if (finishReason === "length" || finishReason === "content_filter") {
      throw upstreamFailure(`the summary was cut off (${finishReason})`);
    }
    const id = newResponseId();
    const previousItems = responsesInput.previous === null ? [] : getStoredInput(responsesInput.previous);
    const preservedItems = [...previousItems, ...toPublicInputItems(responsesInput.items, id)].filter(
      isPreserved,
    );
    const item = { id: randomId("cmp_"), type: "compaction", encrypted_content: encodeSummary(text) };
    return respondJsonWithinBudget(context, {
      id,
      object: "response.compaction",
      created_at: Math.floor(context.startedAt / 1000),
      output: [...preservedItems, item],
      usage: toResponseUsage(usage),
    });
  },
});
