import { callerEndpoint } from "../../../core/routing/endpoint.ts";
import { readWithModelNames } from "../../models/read-with-model-names.ts";
import { answerConversation } from "../shared/answer-conversation.ts";
import { textCompletionAnswers } from "./answers.ts";
import { DIALECT_ID } from "./names.ts";
import { completionRequestSchema, getEchoedPrompt, toConversation } from "./request.ts";
import { toTextCompletion } from "./response.ts";
import { CompletionStream } from "./stream.ts";

/** `POST /v1/completions` (contract). */
export const createTextCompletion = callerEndpoint({
  method: "POST",
  path: ["/v1/completions", "/completions"],
  summary: "Create a text completion",
  acceptsIdempotencyKey: true,
  body: completionRequestSchema,
  answers: textCompletionAnswers,
  handler: async (context, { caller, body }) => {
    const conversation = await readWithModelNames(context, body, toConversation, {
      dialect: DIALECT_ID,
      operation: "chat",
    });
    const echo = getEchoedPrompt(body);
    // Keep only this flag: the body must not stay in memory while the request waits in the queue.
    const includeUsage = body.stream_options?.include_usage === true;
    return answerConversation(
      { context, caller, conversation },
      {
        stream: (info) => new CompletionStream(info, echo, includeUsage),
        body: (completion, info) => toTextCompletion(completion, info, echo),
      },
    );
  },
});
