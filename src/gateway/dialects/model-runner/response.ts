import type { Completion } from "../../../core/conversation/events.ts";
import type { AnswerInfo } from "../../generation/generation-job.ts";
import { toLogprobs } from "../shared/token-logprobs.ts";
import { type AnswerFormat, type Stopwatch, toClosingFields } from "./answer-format.ts";

/** Builds the body of an answer that is not streamed. `model` is the name that the caller requested. */
export function toRunnerResponse(
  completion: Completion,
  info: AnswerInfo,
  shape: AnswerFormat,
  stopwatch: Stopwatch,
): Record<string, unknown> {
  const isRefused = completion.refusal !== undefined;
  return {
    model: info.conversation.model.requested,
    created_at: new Date(stopwatch.now()).toISOString(),
    ...shape.answerFields(completion),
    ...(completion.tokens === undefined ? {} : { logprobs: toLogprobs(completion.tokens) }),
    ...toClosingFields(isRefused ? "content_filter" : completion.finishReason, completion.usage, stopwatch),
  };
}
