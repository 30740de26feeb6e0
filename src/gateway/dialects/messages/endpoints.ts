import type { Context } from "../../../core/ports/context.ts";
import { callerEndpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { readWithModelNames } from "../../models/read-with-model-names.ts";
import { answerConversation } from "../shared/answer-conversation.ts";
import { countPromptTokens } from "../shared/count-tokens.ts";
import { messageAnswers, tokenCountSchema } from "./answers.ts";
import { DIALECT_ID, PREFIXES, VERSION_HEADERS } from "./names.ts";
import { messageRequestSchema, toConversation } from "./request.ts";
import { toMessage } from "./response.ts";
import { MessageStream } from "./stream.ts";
import { getMessageVersion } from "./version.ts";

const PATHS = ["/v1/messages", "/messages", ...PREFIXES.map((prefix) => `${prefix}/v1/messages`)];

/** `POST /vendorb/v1/messages` and its shortcuts (contract). A header of the answer names the version of the style. */
export const createMessage = callerEndpoint({
  method: "POST",
  path: PATHS,
  takesAccount: true,
  summary: "Create a message",
  body: messageRequestSchema,
  answers: messageAnswers,
  handler: async (context, { caller, body }) => {
    const conversation = await readWithModelNames(context, body, toConversation, {
      dialect: DIALECT_ID,
      operation: "chat",
    });
    // Do not keep a reference to the body: it must not stay in memory while the request waits in the queue.
    return withVersionHeader(
      context,
      answerConversation(
        { context, caller, conversation },
        { stream: (info) => new MessageStream(info), body: toMessage },
      ),
    );
  },
});

/** Adds the header with the version to the answer. */
async function withVersionHeader({ request }: Context, answered: Promise<Response>): Promise<Response> {
  const response = await answered;
  response.headers.set(VERSION_HEADERS[0], getMessageVersion(request));
  return response;
}

/**
 * `POST /vendorb/v1/messages/count_tokens` and its shortcuts (contract). Counts messages, system prompt and tools. The
 * stream of the same message starts with the same number.
 */
export const countMessageTokens = callerEndpoint({
  method: "POST",
  path: PATHS.map((path) => `${path}/count_tokens`),
  summary: "Count the tokens of a message",
  body: messageRequestSchema,
  answers: jsonResponse(tokenCountSchema),
  handler: async (context, { body }) => {
    const conversation = await readWithModelNames(context, body, toConversation);
    return Response.json({ input_tokens: await countPromptTokens(context, conversation) });
  },
});
