import { callerEndpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { answerConversation } from "../shared/answer-conversation.ts";
import { countPromptTokens } from "../shared/count-tokens.ts";
import { ResponsesAnswer } from "./answer.ts";
import { responseAnswers, tokenCountSchema } from "./answers.ts";
import { responsesRequestSchema } from "./request.ts";
import { CHAT_USAGE, readResponsesInput } from "./responses-input.ts";

/** `POST /v1/responses` (contract). */
export const createResponse = callerEndpoint({
  method: "POST",
  path: ["/v1/responses", "/responses"],
  takesAccount: true,
  summary: "Create a response",
  body: responsesRequestSchema,
  answers: responseAnswers,
  handler: async (context, { caller, body }) => {
    const responsesInput = await readResponsesInput(context, caller, body, CHAT_USAGE);
    const answer = new ResponsesAnswer(context, caller, body, responsesInput);
    if (body["generate"] === false) return answer.answerWithoutGeneration();
    return answerConversation(
      {
        context,
        caller,
        conversation: responsesInput.translated.conversation,
        retainedData: [body, responsesInput],
      },
      answer,
    );
  },
});

/** `POST /v1/responses/input_tokens` (contract): counts the prompt tokens of the same request. */
export const countInputTokens = callerEndpoint({
  method: "POST",
  path: ["/v1/responses/input_tokens", "/responses/input_tokens"],
  summary: "Count the tokens of a response's input",
  body: responsesRequestSchema,
  answers: jsonResponse(tokenCountSchema),
  handler: async (context, { caller, body }) => {
    const { translated } = await readResponsesInput(context, caller, body);
    const input_tokens = await countPromptTokens(context, translated.conversation);
    return Response.json({ object: "response.input_tokens", input_tokens });
  },
});
