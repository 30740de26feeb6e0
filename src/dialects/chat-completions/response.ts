import type { Completion } from "../../conversation/events.ts";
import type { AnswerInfo } from "../../generation/job.ts";
import { logprobsOf } from "../shared/tokens.ts";
import { annotationsOf } from "./annotations.ts";
import { callMembers, finishReason } from "./calls.ts";
import type { CalledAs } from "./tools.ts";
import { chatUsage } from "./usage.ts";

/** Builds the chat completion object (contract, Chat completion, non-streaming). */
export function toChatCompletion(
  completion: Completion,
  info: AnswerInfo,
  called: CalledAs,
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
  const annotations = annotationsOf(completion);
  if (annotations.length > 0) message["annotations"] = annotations;
  Object.assign(message, callMembers(completion.toolCalls, called));
  const { tokens } = completion;
  const logprobs = tokens === undefined ? null : { content: logprobsOf(tokens), refusal: null };
  return {
    id: completion.sessionId,
    object: "chat.completion",
    created: info.created,
    model: conversation.model.id,
    choices: [{ index: 0, message, logprobs, finish_reason: finishReason(completion.finishReason, called) }],
    usage: chatUsage(completion.usage),
  };
}
