import type { Caller } from "../../../core/auth/callers.ts";
import type { Conversation } from "../../../core/conversation/conversation.ts";
import type { ResolvedModel } from "../../../core/conversation/model.ts";
import type { Context } from "../../../core/ports/context.ts";
import { callerEndpoint } from "../../../core/routing/endpoint.ts";
import { answerConversation } from "../shared/answer-conversation.ts";
import { type AnswerFormat, CHAT_FORMAT, GENERATE_FORMAT, type Stopwatch } from "./answer-format.ts";
import { chatAnswers, generateAnswers } from "./answers.ts";
import { resolveRunnerModel } from "./models.ts";
import {
  chatSchema,
  generateSchema,
  translateRunnerChatRequest,
  translateRunnerGenerateRequest,
} from "./request.ts";
import { toRunnerResponse } from "./response.ts";
import { JSON_LINES, RunnerStream } from "./stream.ts";

function createStopwatch(context: Context): Stopwatch {
  return {
    startedAt: context.startedAt,
    now: () => context.platform.now(),
    firstTokenMs: () => context.facts.firstTokenMs ?? 0,
  };
}

function answerRunnerRequest(
  context: Context,
  caller: Caller,
  body: unknown,
  conversation: Conversation,
  shape: AnswerFormat,
): Promise<Response> {
  const stopwatch = createStopwatch(context);
  return answerConversation({ context, caller, conversation }, body, {
    ignoredMembers: ["keep_alive"],
    streamType: JSON_LINES,
    stream: (info) => new RunnerStream(info, shape, stopwatch),
    body: (completion, info) => toRunnerResponse(completion, info, shape, stopwatch),
  });
}

/** Matches a duration of zero in `keep_alive`. */
const ZERO_DURATION = /^0+(?:\.0*)?(?:ms|s|m|h)?$/;

/**
 * Answers a request without a prompt. It asks to load the model, or with `keep_alive: 0` to unload it; the gateway does
 * neither.
 */
function answerLoadRequest(
  context: Context,
  model: ResolvedModel,
  shape: AnswerFormat,
  keepAlive: unknown,
): Response {
  return Response.json({
    model: model.requested,
    created_at: new Date(context.platform.now()).toISOString(),
    ...shape.answerFields(null),
    done: true,
    done_reason: ZERO_DURATION.test(String(keepAlive)) ? "unload" : "load",
  });
}

/** `POST /api/chat`. Unlike the lists of models, it uses a provider account and therefore needs a credential. */
export const runnerChat = callerEndpoint({
  method: "POST",
  path: "/api/chat",
  summary: "Chat",
  acceptsIdempotencyKey: true,
  body: chatSchema,
  answers: chatAnswers,
  handler: async (context, { caller, body }) => {
    const model = await resolveRunnerModel(context, body.model, "chat");
    if (!body.messages?.length) return answerLoadRequest(context, model, CHAT_FORMAT, body.keep_alive);
    return answerRunnerRequest(context, caller, body, translateRunnerChatRequest(body, model), CHAT_FORMAT);
  },
});

/** `POST /api/generate`: a single prompt. */
export const runnerGenerate = callerEndpoint({
  method: "POST",
  path: "/api/generate",
  summary: "Complete a prompt",
  acceptsIdempotencyKey: true,
  body: generateSchema,
  answers: generateAnswers,
  handler: async (context, { caller, body }) => {
    const model = await resolveRunnerModel(context, body.model, "chat");
    if (!body.prompt && !body.images?.length)
      return answerLoadRequest(context, model, GENERATE_FORMAT, body.keep_alive);
    return answerRunnerRequest(
      context,
      caller,
      body,
      translateRunnerGenerateRequest(body, model),
      GENERATE_FORMAT,
    );
  },
});
