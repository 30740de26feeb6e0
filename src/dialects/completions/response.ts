import type { Completion, FinishReason } from "../../conversation/events.ts";
import { randomId } from "../../conversation/ids.ts";
import type { AnswerInfo } from "../../generation/job.ts";
import { chatUsage } from "../chat-completions/usage.ts";
import { TokenCount } from "./logprobs.ts";

/** What a text completion and each of its chunks begin with. */
export function completionHead({ conversation, created }: AnswerInfo) {
  return { id: randomId("cmpl-"), object: "text_completion", created, model: conversation.model.id };
}

/** `finish_reason` of this style, which has no word for calls, and no place of their own for words that decline. */
export function finishReason(reason: FinishReason, refused: boolean): Exclude<FinishReason, "tool_calls"> {
  if (refused) return "content_filter";
  return reason === "tool_calls" ? "stop" : reason;
}

/** Whether the caller wants to read which tokens might have been chosen instead. */
export function wantsAlternatives({ conversation }: AnswerInfo): boolean {
  return (conversation.sampling.logprobs ?? 0) > 0;
}

/** The text completion object (contract, Text completion). `echo` is what its text begins with. */
export function toTextCompletion(
  completion: Completion,
  info: AnswerInfo,
  echo: string,
): Record<string, unknown> {
  const choice = {
    text: echo + completion.text + (completion.refusal ?? ""),
    index: 0,
    logprobs: new TokenCount(echo.length, wantsAlternatives(info)).next(completion.tokens),
    finish_reason: finishReason(completion.finishReason, completion.refusal !== undefined),
  };
  return { ...completionHead(info), choices: [choice], usage: chatUsage(completion.usage) };
}
