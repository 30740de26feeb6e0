import type { Conversation } from "../../../core/conversation/conversation.ts";
import { isObject } from "../../../core/encoding/json.ts";
import { type JsonBody, parseWith } from "../../../core/http/json-body.ts";
import type { Context } from "../../../core/ports/context.ts";
import { callerEndpoint, jsonResponse, rawBodyEndpoint } from "../../../core/routing/endpoint.ts";
import { readWithModelNames, type UsageLabels } from "../../models/read-with-model-names.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import { answerConversation } from "../shared/answer-conversation.ts";
import { countPromptTokens } from "../shared/count-tokens.ts";
import {
  describeConversation,
  prepareNativeRequest,
  type ReadRequest,
  refersToFiles,
  translateForNative,
} from "../shared/native-request.ts";
import { messageAnswers, tokenCountSchema } from "./answers.ts";
import { DIALECT_ID, PREFIXES, VERSION_HEADERS } from "./names.ts";
import { nativeMessages } from "./native.ts";
import { messageRequestSchema, toConversation } from "./request.ts";
import { toMessage } from "./response.ts";
import { MessageStream } from "./stream.ts";
import { getMessageVersion } from "./version.ts";

const USAGE_LABELS: UsageLabels = { dialect: DIALECT_ID, operation: "chat" };

const PATHS = ["/v1/messages", "/messages", ...PREFIXES.map((prefix) => `${prefix}/v1/messages`)];

/**
 * `POST /vendorb/v1/messages` and its shortcuts (docs/contract/generations.md).
 * A header of the answer names the version of the style.
 */
export const createMessage = rawBodyEndpoint({
  method: "POST",
  path: PATHS,
  summary: "Create a message",
  acceptsIdempotencyKey: true,
  body: messageRequestSchema,
  answers: messageAnswers,
  handler: async (context, { caller, body }) => {
    const { translated: conversation, native } = await readMessageRequest(context, body);
    // Do not keep a reference to the body: it must not stay in memory while the request waits in the queue.
    return withVersionHeader(
      context,
      answerConversation(
        { context, caller, conversation, native, retainedData: native?.request.text },
        body.value,
        { ignoredMembers: ["metadata"], stream: (info) => new MessageStream(info), body: toMessage },
      ),
    );
  },
});

async function readMessageRequest(context: Context, body: JsonBody): Promise<ReadRequest<Conversation>> {
  const { value } = body;
  const { model, stream: isStreamed } = isObject(value) ? value : {};
  const stream = isStreamed === true;
  const native = await prepareNativeRequest(context, nativeMessages, body, { model, stream });
  const read = await translateForNative(
    native,
    async () =>
      readWithModelNames(context, parseWith(messageRequestSchema, value), toConversation, USAGE_LABELS),
    async () => {
      const { config } = await context.config();
      return describeConversation(nativeMessages, body, resolveModel(String(model), config), stream);
    },
  );
  return refersToFiles(read.translated) ? { ...read, native: undefined } : read;
}

/** Adds the header with the version to the answer. */
async function withVersionHeader({ request }: Context, answered: Promise<Response>): Promise<Response> {
  const response = await answered;
  response.headers.set(VERSION_HEADERS[0], getMessageVersion(request));
  return response;
}

/**
 * `POST /vendorb/v1/messages/count_tokens` and its shortcuts (docs/contract/generations.md). Counts messages, system
 * prompt and tools. The stream of the same message starts with the same number.
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
