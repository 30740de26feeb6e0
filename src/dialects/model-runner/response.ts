import type { Completion } from "../../conversation/events.ts";
import type { AnswerInfo } from "../../generation/job.ts";
import { closing, type Shape, type Stopwatch } from "./shape.ts";

/** The body of an answer that is not streamed. `model` is the name that the caller asked for. */
export function toRunnerResponse(
  completion: Completion,
  info: AnswerInfo,
  shape: Shape,
  watch: Stopwatch,
): Record<string, unknown> {
  return {
    model: info.conversation.model.requested,
    created_at: new Date(watch.now()).toISOString(),
    ...shape.whole(completion),
    ...closing(completion.finishReason, completion.usage, watch),
  };
}
