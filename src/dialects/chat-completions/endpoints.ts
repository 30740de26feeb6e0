import { byNames } from "../../models/by-names.ts";
import { forCallers } from "../../routing/endpoint.ts";
import { answer } from "../shared/answer.ts";
import { chatCompletionAnswers } from "./answers.ts";
import { chatRequestSchema, ID, toTurn } from "./request.ts";
import { toChatCompletion } from "./response.ts";
import { ChatStream } from "./stream.ts";

/** `POST /v1/chat/completions` (contract). */
export const createChatCompletion = forCallers({
  method: "POST",
  path: ["/v1/chat/completions", "/chat/completions"],
  takesAccount: true,
  summary: "Create a chat completion",
  body: chatRequestSchema,
  answers: chatCompletionAnswers,
  handler: async (context, { caller, body }) => {
    const { conversation, called } = await byNames(context, body, toTurn, { dialect: ID, operation: "chat" });
    // Keep only this flag: the body must not stay in memory while the request waits in the queue.
    const includeUsage = body.stream_options?.include_usage === true;
    return answer(
      { context, caller, conversation },
      {
        stream: (info) => new ChatStream(info, called, includeUsage),
        body: (completion, info) => toChatCompletion(completion, info, called),
      },
    );
  },
});
