import type { Completion } from "../../../core/conversation/events.ts";
import type { AnswerInfo } from "../../generation/generation-job.ts";
import { toLogprobs } from "../shared/token-logprobs.ts";
import { toAnnotations } from "./annotations.ts";
import { finishReason, toToolCallFields } from "./calls.ts";
import type { CallerTools } from "./tools.ts";
import { toChatUsage } from "./usage.ts";

/** Builds the chat completion object (docs/contract/answers.md, Chat completion). */
export function toChatCompletion(
  completion: Completion,
  info: AnswerInfo,
  callerTools: CallerTools,
): Record<string, unknown> {
  const { conversation } = info;
  const hasCalls = completion.toolCalls.length > 0;
  const silent = completion.refusal !== undefined && completion.text === "";
  const message: Record<string, unknown> = {
    role: "assistant",
    content: hasCalls || silent ? null : completion.text,
    refusal: completion.refusal ?? null,
  };
  if (conversation.showReasoning) message["reasoning_content"] = completion.reasoning;
  const annotations = toAnnotations(completion);
  if (annotations.length > 0) message["annotations"] = annotations;
  Object.assign(message, toToolCallFields(completion.toolCalls, callerTools));
  const { tokens } = completion;
  const logprobs = tokens === undefined ? null : { content: toLogprobs(tokens), refusal: null };
  return {
    id: completion.sessionId,
    object: "chat.completion",
    created: info.created,
    model: conversation.model.id,
    choices: [
      { index: 0, message, logprobs, finish_reason: finishReason(completion.finishReason, callerTools) },
    ],
    usage: toChatUsage(completion.usage),
  };
}
