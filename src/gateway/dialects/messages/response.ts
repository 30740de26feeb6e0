import { listTexts } from "../../../core/conversation/completion-fold.ts";
import type { CompletedToolCall, Completion } from "../../../core/conversation/events.ts";
import { randomId } from "../../../core/conversation/ids.ts";
import { citationsIn } from "../../../core/conversation/sources.ts";
import type { AnswerInfo } from "../../generation/generation-job.ts";
import { parseToolInput } from "../shared/tool-input.ts";
import { toCitations } from "./citations.ts";
import { toSearchBlocks } from "./search-blocks.ts";
import { toEndingFields, toWholeUsage } from "./usage.ts";

function toToolUse({ id, name, arguments: text }: CompletedToolCall): Record<string, unknown> {
  return { type: "tool_use", id, name, input: parseToolInput(text), caller: { type: "direct" } };
}

/**
 * Builds the message object (docs/contract/answers.md, Message-style response). `model` is the name that the caller
 * requested, because agents look up model data by that name. Empty blocks are omitted.
 */
export function toMessage(completion: Completion, info: AnswerInfo): Record<string, unknown> {
  const content: Record<string, unknown>[] = [];
  if (completion.reasoning !== "") {
    content.push({ type: "thinking", thinking: completion.reasoning, signature: "" });
  }
  content.push(...toSearchBlocks(completion.sources, info).map((block) => ({ ...block })));
  for (const text of listTexts(completion)) {
    const citations = toCitations(citationsIn(text, completion.sources), info);
    content.push({ type: "text", text: text.text, citations: citations.length === 0 ? null : citations });
  }
  if (completion.refusal) {
    content.push({ type: "text", text: completion.refusal, citations: null });
  }
  content.push(...completion.toolCalls.map(toToolUse));
  return {
    id: randomId("msg_"),
    type: "message",
    role: "assistant",
    model: info.conversation.model.requested,
    content,
    diagnostics: null,
    ...(completion.refusal === undefined
      ? toEndingFields(completion.finishReason, completion.stopSequence)
      : toEndingFields("content_filter")),
    usage: toWholeUsage(completion.usage),
  };
}
