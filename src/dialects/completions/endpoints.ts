import { byNames } from "../../models/by-names.ts";
import { forCallers } from "../../routing/endpoint.ts";
import { answer } from "../shared/answer.ts";
import { textCompletionAnswers } from "./answers.ts";
import { ID } from "./names.ts";
import { completionRequestSchema, echoOf, toConversation } from "./request.ts";
import { toTextCompletion } from "./response.ts";
import { CompletionStream } from "./stream.ts";

/** `POST /v1/completions` (contract). */
export const createTextCompletion = forCallers({
  method: "POST",
  path: ["/v1/completions", "/completions"],
  takesAccount: true,
  summary: "Create a text completion",
  body: completionRequestSchema,
  answers: textCompletionAnswers,
  handler: async (context, { caller, body }) => {
    const conversation = await byNames(context, body, toConversation, { dialect: ID, operation: "chat" });
    const echo = echoOf(body);
    // Keep only this flag: the body must not stay in memory while the request waits in the queue.
    const includeUsage = body.stream_options?.include_usage === true;
    return answer(
      { context, caller, conversation },
      {
        stream: (info) => new CompletionStream(info, echo, includeUsage),
        body: (completion, info) => toTextCompletion(completion, info, echo),
      },
    );
  },
});
