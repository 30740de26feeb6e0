import type { Caller } from "../../auth/callers.ts";
import type { Conversation } from "../../conversation/conversation.ts";
import type { ResolvedModel } from "../../conversation/model.ts";
import type { Context } from "../../platform/context.ts";
import { forCallers } from "../../routing/endpoint.ts";
import { answer } from "../shared/answer.ts";
import { chatAnswers, generateAnswers } from "./answers.ts";
import { resolveRunnerModel } from "./models.ts";
import { chatConversation, chatSchema, generateConversation, generateSchema } from "./request.ts";
import { toRunnerResponse } from "./response.ts";
import { CHAT_SHAPE, GENERATE_SHAPE, type Shape, type Stopwatch } from "./shape.ts";
import { JSON_LINES, RunnerStream } from "./stream.ts";

function stopwatch(context: Context): Stopwatch {
  return {
    startedAt: context.startedAt,
    now: () => context.platform.now(),
    firstTokenMs: () => context.log.firstTokenMs ?? 0,
  };
}

function run(context: Context, caller: Caller, conversation: Conversation, shape: Shape): Promise<Response> {
  const watch = stopwatch(context);
  return answer(
    { context, caller, conversation },
    {
      streamType: JSON_LINES,
      stream: (info) => new RunnerStream(info, shape, watch),
      body: (completion, info) => toRunnerResponse(completion, info, shape, watch),
    },
  );
}

/** Matches a duration of zero in `keep_alive`. */
const UNLOADS = /^0+(?:\.0*)?(?:ms|s|m|h)?$/;

/**
 * Answers a request without a prompt. It asks to load the model, or with `keep_alive: 0` to unload it; the gateway does
 * neither.
 */
function loaded(context: Context, model: ResolvedModel, shape: Shape, keepAlive: unknown): Response {
  return Response.json({
    model: model.requested,
    created_at: new Date(context.platform.now()).toISOString(),
    ...shape.whole(null),
    done: true,
    done_reason: UNLOADS.test(String(keepAlive)) ? "unload" : "load",
  });
}

/** `POST /api/chat`. Unlike the lists of models, it uses a provider account and therefore needs a credential. */
export const runnerChat = forCallers({
  method: "POST",
  path: "/api/chat",
  takesAccount: true,
  summary: "Chat",
  body: chatSchema,
  answers: chatAnswers,
  handler: async (context, { caller, body }) => {
    const model = await resolveRunnerModel(context, body.model, "chat");
    if (!body.messages?.length) return loaded(context, model, CHAT_SHAPE, body.keep_alive);
    return run(context, caller, chatConversation(body, model), CHAT_SHAPE);
  },
});

/** `POST /api/generate`: a single prompt. */
export const runnerGenerate = forCallers({
  method: "POST",
  path: "/api/generate",
  takesAccount: true,
  summary: "Complete a prompt",
  body: generateSchema,
  answers: generateAnswers,
  handler: async (context, { caller, body }) => {
    const model = await resolveRunnerModel(context, body.model, "chat");
    if (!body.prompt && !body.images?.length) return loaded(context, model, GENERATE_SHAPE, body.keep_alive);
    return run(context, caller, generateConversation(body, model), GENERATE_SHAPE);
  },
});
