import { authenticateCaller } from "../../auth/callers.ts";
import { answer } from "../../generation/answer.ts";
import { readBody } from "../../http/json-body.ts";
import type { Handler } from "../../platform/context.ts";
import { chatRequestSchema, toConversation } from "./request.ts";
import { toChatCompletion } from "./response.ts";
import { ChatStream } from "./stream.ts";

/** `POST /v1/chat/completions` (contract). */
export const chatCompletions: Handler = async (context) => {
  const caller = await authenticateCaller(context);
  const body = await readBody(context.request, chatRequestSchema);
  const { config } = await context.config();
  return answer(context, caller, toConversation(body, config.model_aliases), {
    stream: (info) => new ChatStream(info, body.stream_options?.include_usage === true),
    body: toChatCompletion,
  });
};
