import type { Completion } from "../../../core/conversation/events.ts";
import { respondJsonWithinBudget, respondWithinBudget } from "../../../core/routing/budgeted-response.ts";
import { generateCompletion } from "../../generation/complete.ts";
import type { AnswerInfo, GenerationRequest } from "../../generation/generation-job.ts";
import { type StreamAnswer, streamGeneration } from "../../generation/stream.ts";
import { answerThroughCache, type CacheableInput } from "../../response-cache/answer-through-cache.ts";

/** Renders answers in one dialect. */
export interface DialectAnswerRenderer
  extends StreamAnswer,
    Pick<CacheableInput, "ignoredMembers" | "isStored"> {
  /** Returns the body of an answer that is not streamed. */
  body(completion: Completion, info: AnswerInfo): unknown;
}

/**
 * Answers a conversation in its dialect, streamed if the request asks for it, from the response cache if it is on.
 *
 * @param body the request's JSON body; it does not stay in memory
 * @throws GatewayError as `streamGeneration` and `generateCompletion` do.
 */
export function answerConversation(
  request: GenerationRequest,
  body: unknown,
  dialect: DialectAnswerRenderer,
): Promise<Response> {
  const { ignoredMembers = [], isStored = false } = dialect;
  return answerThroughCache(request, { body, ignoredMembers, isStored }, (cached) =>
    createAnswer(cached, dialect),
  );
}

async function createAnswer(request: GenerationRequest, dialect: DialectAnswerRenderer): Promise<Response> {
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
