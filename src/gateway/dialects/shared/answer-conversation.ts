import type { Completion } from "../../../core/conversation/events.ts";
import { respondJsonWithinBudget, respondWithinBudget } from "../../../core/routing/budgeted-response.ts";
import { generateCompletion } from "../../generation/complete.ts";
import type { AnswerInfo, GenerationRequest } from "../../generation/generation-job.ts";
import { type StreamAnswer, streamGeneration } from "../../generation/stream.ts";

/** Renders answers in one dialect. */
export interface DialectAnswerRenderer extends StreamAnswer {
  /** Returns the body of an answer that is not streamed. */
  body(completion: Completion, info: AnswerInfo): unknown;
}

/**
 * Answers a conversation in its dialect, streamed if the request asks for it.
 *
 * @throws GatewayError as `streamGeneration` and `generateCompletion` do.
 */
export async function answerConversation(
  request: GenerationRequest,
  dialect: DialectAnswerRenderer,
): Promise<Response> {
  if (request.conversation.stream) return streamGeneration(request, dialect);
  const { completion, info, native } = await generateCompletion(request);
  if (native !== undefined) {
    await dialect.completedNative?.(completion, new TextEncoder().encode(native.text));
    const headers = { "content-type": "application/json", ...native.headers };
    return respondWithinBudget(request.context, native.text, { headers });
  }
  await dialect.completed?.(completion, info);
  return respondJsonWithinBudget(request.context, dialect.body(completion, info));
}
