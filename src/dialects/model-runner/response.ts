import type { Completion } from "../../conversation/events.ts";
import type { AnswerInfo } from "../../generation/job.ts";
import { logprobsOf } from "../shared/tokens.ts";
import { closing, type Shape, type Stopwatch } from "./shape.ts";

/** Builds the body of an answer that is not streamed. `model` is the name that the caller requested. */
export function toRunnerResponse(
  completion: Completion,
  info: AnswerInfo,
  shape: Shape,
  watch: Stopwatch,
): Record<string, unknown> {
  const refused = completion.refusal !== undefined;
  return {
    model: info.conversation.model.requested,
    created_at: new Date(watch.now()).toISOString(),
    ...shape.whole(completion),
    ...(completion.tokens === undefined ? {} : { logprobs: logprobsOf(completion.tokens) }),
    ...closing(refused ? "content_filter" : completion.finishReason, completion.usage, watch),
  };
}
