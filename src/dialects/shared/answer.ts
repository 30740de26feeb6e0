import type { Completion } from "../../conversation/events.ts";
import { complete } from "../../generation/complete.ts";
import type { AnswerInfo, GenerationRequest } from "../../generation/job.ts";
import { type StreamAnswer, stream } from "../../generation/stream.ts";
import { heldJson } from "../../routing/held-answer.ts";

/** A dialect's way of answering. */
export interface DialectAnswer extends StreamAnswer {
  /** The body of an answer that is not streamed. */
  body(completion: Completion, info: AnswerInfo): unknown;
}

/** Answers a conversation in its dialect, as a stream or whole, as it wishes. Throws as the two halves do. */
export async function answer(request: GenerationRequest, dialect: DialectAnswer): Promise<Response> {
  if (request.conversation.stream) return stream(request, dialect);
  const { completion, info } = await complete(request);
  await dialect.completed?.(completion, info);
  return heldJson(request.context, dialect.body(completion, info));
}
