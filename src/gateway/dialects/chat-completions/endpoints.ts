import { callerEndpoint } from "../../../core/routing/endpoint.ts";
import { readWithModelNames } from "../../models/read-with-model-names.ts";
import { answerConversation } from "../shared/answer-conversation.ts";
import { chatCompletionAnswers } from "./answers.ts";
import { chatRequestSchema, DIALECT_ID, translateChatRequest } from "./request.ts";
import { toChatCompletion } from "./response.ts";
import { ChatStream } from "./stream.ts";

/** `POST /v1/chat/completions` (contract). */
export const createChatCompletion = callerEndpoint({
  method: "POST",
  path: ["/v1/chat/completions", "/chat/completions"],
  takesAccount: true,
  summary: "Create a chat completion",
  body: chatRequestSchema,
  answers: chatCompletionAnswers,
  handler: async (context, { caller, body }) => {
    const { conversation, callerTools } = await readWithModelNames(context, body, translateChatRequest, {
      dialect: DIALECT_ID,
      operation: "chat",
    });
    // Keep only this flag: the body must not stay in memory while the request waits in the queue.
    const includeUsage = body.stream_options?.include_usage === true;
    return answerConversation(
      { context, caller, conversation },
      {
        stream: (info) => new ChatStream(info, callerTools, includeUsage),
        body: (completion, info) => toChatCompletion(completion, info, callerTools),
      },
    );
  },
});
