import { type Conversation, type Message, textOf } from "../../conversation/conversation.ts";
import { randomId } from "../../conversation/ids.ts";
import type { JsonObject } from "../../encoding/json.ts";
import { lazyLooseObject } from "../../encoding/lazy-schema.ts";
import { upstreamFailure } from "../../errors/gateway-error.ts";
import { complete } from "../../generation/complete.ts";
import { forCallers, json } from "../../routing/endpoint.ts";
import { heldJson } from "../../routing/held-answer.ts";
import { compactionSchema } from "./answers.ts";
import { type Asked, askedBy, CHAT_USAGE } from "./asked.ts";
import { packSummary } from "./compaction.ts";
import { previousId } from "./echo.ts";
import { newResponseId } from "./ids.ts";
import { inputOf } from "./references.ts";
import { type ResponsesRequest, responsesRequestSchema } from "./request.ts";
import { inputResources } from "./resources.ts";
import { responseUsage } from "./usage.ts";

const ORDER = `The conversation above becomes too long and is about to be replaced by a summary. Write that summary now, for whoever goes on with the work without having seen the conversation. Keep everything that is needed to go on:
- what was asked for, with all constraints and preferences that were stated;
- what has been done and found out, with exact names, paths, numbers, commands and errors;
- what was decided, and why;
- what is still open, and the next step.
Write the summary alone. Do not answer the conversation, and call no tools.`;

/**
 * Converts tool calls and results of a message to plain text. Otherwise a provider would require the tools that they refer
 * to.
 */
function told(message: Message): Message {
  switch (message.role) {
    case "assistant": {
      const calls = message.toolCalls.map(({ name, arguments: text }) => `[called ${name} with ${text}]`);
      const text = [textOf(message.parts), ...calls].filter((line) => line !== "").join("\n");
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
function summarising({ turn: { conversation } }: Asked): Conversation {
  const order: Message = { role: "user", parts: [{ type: "text", text: ORDER }] };
  return {
    ...conversation,
    messages: [...conversation.messages.map(told), order],
    tools: [],
    toolChoice: { type: "none" },
    thinking: false,
    showReasoning: false,
    responseFormat: { type: "text" },
    stream: false,
  };
}

/** Returns whether to keep an item word for word: messages of users and developers, as in the real service. */
function isKept({ type, role }: JsonObject): boolean {
  return type === "message" && role !== "assistant";
}

/** If a request only continues a response and has no input of its own, adds an empty input. */
function withInput(body: ResponsesRequest): ResponsesRequest {
  const empty = (body.input ?? body.messages ?? null) === null;
  return empty && previousId(body) !== null ? { ...body, input: [] } : body;
}

/**
 * `POST /v1/responses/compact` (contract): compacts a conversation. The answer contains the messages of users and
 * developers unchanged, and one item with a summary of everything. Sent back as input, this item replaces the compacted
 * conversation.
 */
export const compactResponse = forCallers({
  method: "POST",
  path: ["/v1/responses/compact", "/responses/compact"],
  summary: "Compact a conversation",
  body: lazyLooseObject(() => responsesRequestSchema.shape),
  answers: json(compactionSchema),
  handler: async (context, { caller, body }) => {
    const asked = await askedBy(context, caller, withInput(body), CHAT_USAGE);
    const { completion } = await complete({
      context,
      caller,
      conversation: summarising(asked),
      alsoHeld: [body, asked],
    });
    const { text, finishReason, usage } = completion;
    if (finishReason === "length" || finishReason === "content_filter") {
      throw upstreamFailure(`the summary was cut off (${finishReason})`);
    }
    const id = newResponseId();
    const earlier = asked.previous === null ? [] : inputOf(asked.previous);
    const said = [...earlier, ...inputResources(asked.items, id)].filter(isKept);
    const item = { id: randomId("cmp_"), type: "compaction", encrypted_content: packSummary(text) };
    return heldJson(context, {
      id,
      object: "response.compaction",
      created_at: Math.floor(context.startedAt / 1000),
      output: [...said, item],
      usage: responseUsage(usage),
    });
  },
});
