import type { Completion, FinishReason } from "../../../core/conversation/events.ts";
import { randomId } from "../../../core/conversation/ids.ts";
import type { AnswerInfo } from "../../generation/generation-job.ts";
import { toChatUsage } from "../chat-completions/usage.ts";
import { TextLogprobsBuilder } from "./logprobs.ts";

/** Builds the common first fields of a text completion and of each of its chunks. */
export function buildCompletionHead({ conversation, created }: AnswerInfo) {
  return { id: randomId("cmpl-"), object: "text_completion", created, model: conversation.model.id };
}

/** Maps to `finish_reason`. This style has no value for tool calls, and no separate field for a refusal. */
export function finishReason(reason: FinishReason, refused: boolean): Exclude<FinishReason, "tool_calls"> {
  if (refused) return "content_filter";
  return reason === "tool_calls" ? "stop" : reason;
}

/** Returns whether the caller asked for the alternatives of each token. */
export function wantsAlternatives({ conversation }: AnswerInfo): boolean {
  return (conversation.options.logprobs ?? 0) > 0;
}

/**
 * Builds the text completion object (docs/contract/answers.md, Text completion). `echo` is the repeated prompt at the
 * start of its text.
 */
export function toTextCompletion(
  completion: Completion,
  info: AnswerInfo,
  echo: string,
): Record<string, unknown> {
  const choice = {
    text: echo + completion.text + (completion.refusal ?? ""),
    index: 0,
    logprobs: new TextLogprobsBuilder(echo.length, wantsAlternatives(info)).next(completion.tokens),
    finish_reason: finishReason(completion.finishReason, completion.refusal !== undefined),
  };
  return { ...buildCompletionHead(info), choices: [choice], usage: toChatUsage(completion.usage) };
}
