import { authenticateCaller } from "../../auth/callers.ts";
import { answer } from "../../generation/answer.ts";
import { readBody } from "../../http/json-body.ts";
import { MESSAGE_VERSION_HEADERS } from "../../http/vendor-names.ts";
import type { Handler } from "../../platform/context.ts";
import { countPromptTokens } from "../shared/count.ts";
import { messageRequestSchema, toConversation } from "./request.ts";
import { toMessage } from "./response.ts";
import { MessageStream } from "./stream.ts";
import { messageVersion } from "./version.ts";

/** `POST /vendorb/v1/messages` and its shortcuts (contract). The answer names the version that it is given in. */
export const messages: Handler = async (context) => {
  const caller = await authenticateCaller(context);
  const body = await readBody(context.request, messageRequestSchema);
  const { config } = await context.config();
  const response = await answer(context, caller, toConversation(body, config.model_aliases), {
    stream: (info) => new MessageStream(info),
    body: toMessage,
  });
  response.headers.set(MESSAGE_VERSION_HEADERS[0], messageVersion(context.request));
  return response;
};

/**
 * `POST /vendorb/v1/messages/count_tokens` and its shortcuts (contract). Counts messages, system and tools; the same
 * number opens the stream of the message itself.
 */
export const countTokens: Handler = async (context) => {
  await authenticateCaller(context);
  const body = await readBody(context.request, messageRequestSchema);
  const { config } = await context.config();
  const conversation = toConversation(body, config.model_aliases);
  return Response.json({ input_tokens: await countPromptTokens(context, conversation) });
};
