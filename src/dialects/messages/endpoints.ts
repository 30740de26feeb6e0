import { byNames } from "../../models/by-names.ts";
import type { Context } from "../../platform/context.ts";
import { forCallers, json } from "../../routing/endpoint.ts";
import { answer } from "../shared/answer.ts";
import { countPromptTokens } from "../shared/count.ts";
import { messageAnswers, tokenCountSchema } from "./answers.ts";
import { ID, PREFIXES, VERSION_HEADERS } from "./names.ts";
import { messageRequestSchema, toConversation } from "./request.ts";
import { toMessage } from "./response.ts";
import { MessageStream } from "./stream.ts";
import { messageVersion } from "./version.ts";

const PATHS = ["/v1/messages", "/messages", ...PREFIXES.map((prefix) => `${prefix}/v1/messages`)];

/** `POST /vendorb/v1/messages` and its shortcuts (contract). A header of the answer names the version of the style. */
export const createMessage = forCallers({
  method: "POST",
  path: PATHS,
  takesAccount: true,
  summary: "Create a message",
  body: messageRequestSchema,
  answers: messageAnswers,
  handler: async (context, { caller, body }) => {
    const conversation = await byNames(context, body, toConversation, { dialect: ID, operation: "chat" });
    // Do not keep a reference to the body: it must not stay in memory while the request waits in the queue.
    return versioned(
      context,
      answer(
        { context, caller, conversation },
        { stream: (info) => new MessageStream(info), body: toMessage },
      ),
    );
  },
});

/** Adds the header with the version to the answer. */
async function versioned({ request }: Context, answered: Promise<Response>): Promise<Response> {
  const response = await answered;
  response.headers.set(VERSION_HEADERS[0], messageVersion(request));
  return response;
}

/**
 * `POST /vendorb/v1/messages/count_tokens` and its shortcuts (contract). Counts messages, system prompt and tools. The
 * stream of the same message starts with the same number.
 */
export const countMessageTokens = forCallers({
  method: "POST",
  path: PATHS.map((path) => `${path}/count_tokens`),
  summary: "Count the tokens of a message",
  body: messageRequestSchema,
  answers: json(tokenCountSchema),
  handler: async (context, { body }) => {
    const conversation = await byNames(context, body, toConversation);
    return Response.json({ input_tokens: await countPromptTokens(context, conversation) });
  },
});
