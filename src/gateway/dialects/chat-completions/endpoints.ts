import { isObject } from "../../../core/encoding/json.ts";
import { type JsonBody, parseWith } from "../../../core/http/json-body.ts";
import type { Context } from "../../../core/ports/context.ts";
import { rawBodyEndpoint } from "../../../core/routing/endpoint.ts";
import { readWithModelNames, type UsageLabels } from "../../models/read-with-model-names.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import { answerConversation } from "../shared/answer-conversation.ts";
import { DeclaredTools } from "../shared/declared-tools.ts";
import {
  describeConversation,
  prepareNativeRequest,
  type ReadRequest,
  refersToFiles,
  translateForNative,
} from "../shared/native-request.ts";
import { chatCompletionAnswers } from "./answers.ts";
import { nativeChatCompletions, wantsStream } from "./native.ts";
import {
  chatRequestSchema,
  DIALECT_ID,
  documentedChatRequest,
  type TranslatedChatRequest,
  translateChatRequest,
} from "./request.ts";
import { toChatCompletion } from "./response.ts";
import { ChatStream } from "./stream.ts";

/** A chat request as the handler needs it. The body itself does not stay in memory while the request waits. */
type ReadChatRequest = TranslatedChatRequest & { readonly includeUsage: boolean };

/** Members on which no answer depends: they name the end user, or help the provider to cache prompts. */
const IGNORED_MEMBERS = [
  ...["user", "metadata", "safety_identifier"],
  ...["prompt_cache_key", "prompt_cache_retention"],
];

const USAGE_LABELS: UsageLabels = { dialect: DIALECT_ID, operation: "chat" };

async function readChatRequest(context: Context, body: JsonBody): Promise<ReadRequest<ReadChatRequest>> {
  const { value } = body;
  const stream = wantsStream(value);
  const model = isObject(value) ? value["model"] : undefined;
  const native = await prepareNativeRequest(context, nativeChatCompletions, body, { model, stream });
  const read = await translateForNative<ReadChatRequest>(
    native,
    async () => {
      const request = parseWith(chatRequestSchema, value);
      const translated = await readWithModelNames(context, request, translateChatRequest, USAGE_LABELS);
      return { ...translated, includeUsage: request.stream_options?.include_usage === true };
    },
    async () => {
      const { config } = await context.config();
      const resolved = resolveModel(String(model), config);
      const conversation = describeConversation(nativeChatCompletions, body, resolved, stream);
      return {
        conversation,
        callerTools: { tools: new DeclaredTools(), isLegacy: false },
        includeUsage: false,
      };
    },
  );
  return refersToFiles(read.translated.conversation) ? { ...read, native: undefined } : read;
}

/** `POST /v1/chat/completions` (docs/contract/generations.md). */
export const createChatCompletion = rawBodyEndpoint({
  method: "POST",
  path: ["/v1/chat/completions", "/chat/completions"],
  summary: "Create a chat completion",
  acceptsIdempotencyKey: true,
  body: documentedChatRequest,
  answers: chatCompletionAnswers,
  handler: async (context, { caller, body }) => {
    const { native, translated } = await readChatRequest(context, body);
    const { conversation, callerTools, includeUsage } = translated;
    return answerConversation(
      { context, caller, conversation, native, retainedData: native?.request.text },
      body.value,
      {
        ignoredMembers: IGNORED_MEMBERS,
        stream: (info) => new ChatStream(info, callerTools, includeUsage),
        body: (completion, info) => toChatCompletion(completion, info, callerTools),
      },
    );
  },
});
