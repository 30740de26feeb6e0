import type { CompletedToolCall, Completion } from "../../../core/conversation/events.ts";
import type { AnswerInfo } from "../../generation/generation-job.ts";
import { parseToolInput } from "../shared/tool-input.ts";
import { groundingMetadata } from "./grounding.ts";
import { toLogprobsResult } from "./logprobs.ts";
import { FINISH_REASONS, usageMetadata } from "./usage.ts";

function toFunctionCall({ id, name, arguments: text }: CompletedToolCall): Record<string, unknown> {
  return { functionCall: { id, name, args: parseToolInput(text) } };
}

/**
 * Builds the response object (docs/contract/answers.md, Content-generation-style response).
 * A candidate always has at least one part.
 */
export function toContentResponse(completion: Completion, info: AnswerInfo): Record<string, unknown> {
  const parts: Record<string, unknown>[] = [];
  if (completion.reasoning !== "") parts.push({ text: completion.reasoning, thought: true });
  for (const text of [completion.text, completion.refusal ?? ""]) if (text !== "") parts.push({ text });
  parts.push(...completion.toolCalls.map(toFunctionCall));
  if (parts.length === 0) parts.push({ text: "" });
  return {
    candidates: [
      {
        content: { role: "model", parts },
        finishReason:
          completion.refusal === undefined
            ? FINISH_REASONS[completion.finishReason]
            : FINISH_REASONS.content_filter,
        index: 0,
        ...(completion.tokens === undefined ? {} : toLogprobsResult(completion.tokens)),
        ...(completion.sources === undefined
          ? {}
          : { groundingMetadata: groundingMetadata(completion.sources, completion.text) }),
      },
    ],
    usageMetadata: usageMetadata(completion.usage),
    modelVersion: info.conversation.model.id,
    responseId: completion.sessionId,
  };
}
