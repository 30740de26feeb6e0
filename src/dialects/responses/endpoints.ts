import { forCallers, json } from "../../routing/endpoint.ts";
import { answer } from "../shared/answer.ts";
import { countPromptTokens } from "../shared/count.ts";
import { ResponsesAnswer } from "./answer.ts";
import { responseAnswers, tokenCountSchema } from "./answers.ts";
import { askedBy, CHAT_USAGE } from "./asked.ts";
import { responsesRequestSchema } from "./request.ts";

/** `POST /v1/responses` (contract). */
export const createResponse = forCallers({
  method: "POST",
  path: ["/v1/responses", "/responses"],
  takesAccount: true,
  summary: "Create a response",
  body: responsesRequestSchema,
  answers: responseAnswers,
  handler: async (context, { caller, body }) => {
    const asked = await askedBy(context, caller, body, CHAT_USAGE);
    const own = new ResponsesAnswer(context, caller, body, asked);
    if (body["generate"] === false) return own.prepared();
    return answer({ context, caller, conversation: asked.turn.conversation, alsoHeld: [body, asked] }, own);
  },
});

/** `POST /v1/responses/input_tokens` (contract): counts the prompt tokens of the same request. */
export const countInputTokens = forCallers({
  method: "POST",
  path: ["/v1/responses/input_tokens", "/responses/input_tokens"],
  summary: "Count the tokens of a response's input",
  body: responsesRequestSchema,
  answers: json(tokenCountSchema),
  handler: async (context, { caller, body }) => {
    const { turn } = await askedBy(context, caller, body);
    const input_tokens = await countPromptTokens(context, turn.conversation);
    return Response.json({ object: "response.input_tokens", input_tokens });
  },
});
