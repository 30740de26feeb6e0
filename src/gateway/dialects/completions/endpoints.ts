import type { Conversation } from "../../../core/conversation/conversation.ts";
import { isObject } from "../../../core/encoding/json.ts";
import { type JsonBody, parseWith } from "../../../core/http/json-body.ts";
import type { Context } from "../../../core/ports/context.ts";
import { rawBodyEndpoint } from "../../../core/routing/endpoint.ts";
import { readWithModelNames, type UsageLabels } from "../../models/read-with-model-names.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import { wantsStream } from "../chat-completions/native.ts";
import { answerConversation } from "../shared/answer-conversation.ts";
import {
  describeConversation,
  prepareNativeRequest,
  type ReadRequest,
  translateForNative,
} from "../shared/native-request.ts";
import { textCompletionAnswers } from "./answers.ts";
import { DIALECT_ID } from "./names.ts";
import { nativeCompletions } from "./native.ts";
import {
  completionRequestSchema,
  documentedCompletionRequest,
  getEchoedPrompt,
  toConversation,
} from "./request.ts";
import { toTextCompletion } from "./response.ts";
import { CompletionStream } from "./stream.ts";

const USAGE_LABELS: UsageLabels = { dialect: DIALECT_ID, operation: "chat" };

/** A request as the handler needs it. The body itself does not stay in memory while the request waits in the queue. */
interface ReadCompletionRequest {
  readonly conversation: Conversation;
  readonly echo: string;
  readonly includeUsage: boolean;
}

async function readCompletionRequest(
  context: Context,
  body: JsonBody,
): Promise<ReadRequest<ReadCompletionRequest>> {
  const { value } = body;
  const stream = wantsStream(value);
  const model = isObject(value) ? value["model"] : undefined;
  return translateForNative<ReadCompletionRequest>(
    await prepareNativeRequest(context, nativeCompletions, body, { model, stream }),
    async () => {
      const request = parseWith(completionRequestSchema, value);
      return {
        conversation: await readWithModelNames(context, request, toConversation, USAGE_LABELS),
        echo: getEchoedPrompt(request),
        includeUsage: request.stream_options?.include_usage === true,
      };
    },
    async () => {
      const { config } = await context.config();
      const resolved = resolveModel(String(model), config);
      const conversation = describeConversation(nativeCompletions, body, resolved, stream);
      return { conversation, echo: "", includeUsage: false };
    },
  );
}

/** `POST /v1/completions` (docs/contract/generations.md). */
export const createTextCompletion = rawBodyEndpoint({
  method: "POST",
  path: ["/v1/completions", "/completions"],
  summary: "Create a text completion",
  acceptsIdempotencyKey: true,
  body: documentedCompletionRequest,
  answers: textCompletionAnswers,
  handler: async (context, { caller, body }) => {
    const { native, translated } = await readCompletionRequest(context, body);
    const { conversation, echo, includeUsage } = translated;
    return answerConversation(
      { context, caller, conversation, native, retainedData: native?.request.text },
      body.value,
      {
        ignoredMembers: ["user"],
        stream: (info) => new CompletionStream(info, echo, includeUsage),
        body: (completion, info) => toTextCompletion(completion, info, echo),
      },
    );
  },
});
