import type { Completion } from "../../conversation/events.ts";
import { complete } from "../../generation/complete.ts";
import type { AnswerInfo, GenerationRequest } from "../../generation/job.ts";
import { type StreamAnswer, stream } from "../../generation/stream.ts";
import { heldJson } from "../../routing/held-answer.ts";

/** Renders answers in one dialect. */
export interface DialectAnswer extends StreamAnswer {
  /** Returns the body of an answer that is not streamed. */
  body(completion: Completion, info: AnswerInfo): unknown;
}

/**
 * Answers a conversation in its dialect, streamed if the request asks for it.
 *
 * @throws GatewayError as `stream` and `complete` do.
 */
export async function answer(request: GenerationRequest, dialect: DialectAnswer): Promise<Response> {
  if (request.conversation.stream) return stream(request, dialect);
  const { completion, info } = await complete(request);
  await dialect.completed?.(completion, info);
  return heldJson(request.context, dialect.body(completion, info));
}
