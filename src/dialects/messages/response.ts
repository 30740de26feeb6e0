import type { CompletedToolCall, Completion } from "../../conversation/events.ts";
import { randomId } from "../../conversation/ids.ts";
import type { AnswerInfo } from "../../generation/job.ts";
import { inputObject } from "../shared/tool-input.ts";
import { citationsOf } from "./citations.ts";
import { ending, wholeUsage } from "./usage.ts";

function toolUse({ id, name, arguments: text }: CompletedToolCall): Record<string, unknown> {
  return { type: "tool_use", id, name, input: inputObject(text), caller: { type: "direct" } };
}

/**
 * Builds the message object (contract, Message-style response). `model` is the name that the caller requested, because
 * agents look up model data by that name. Empty blocks are omitted.
 */
export function toMessage(completion: Completion, info: AnswerInfo): Record<string, unknown> {
  const content: Record<string, unknown>[] = [];
  if (completion.reasoning !== "") {
    content.push({ type: "thinking", thinking: completion.reasoning, signature: "" });
  }
  if (completion.text !== "") {
    const citations = citationsOf(completion, info);
    content.push({
      type: "text",
      text: completion.text,
      citations: citations.length === 0 ? null : citations,
    });
  }
  if (completion.refusal) {
    content.push({ type: "text", text: completion.refusal, citations: null });
  }
  content.push(...completion.toolCalls.map(toolUse));
  return {
    id: randomId("msg_"),
    type: "message",
    role: "assistant",
    model: info.conversation.model.requested,
    content,
    diagnostics: null,
    ...(completion.refusal === undefined
      ? ending(completion.finishReason, completion.stopSequence)
      : ending("content_filter")),
    usage: wholeUsage(completion.usage),
  };
}
