import * as z from "zod";
import type { Caller } from "../../../core/auth/callers.ts";
import type { Conversation } from "../../../core/conversation/conversation.ts";
import { isObject } from "../../../core/encoding/json.ts";
import { type JsonBody, parseWith } from "../../../core/http/json-body.ts";
import type { Context } from "../../../core/ports/context.ts";
import { withAliasForms } from "../../../core/routing/alias-forms.ts";
import {
  type CallerEndpoint,
  callerEndpoint,
  jsonResponse,
  rawBodyEndpoint,
} from "../../../core/routing/endpoint.ts";
import { readWithModelNames } from "../../models/read-with-model-names.ts";
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
import { contentAnswers, contentStreamAnswers, totalTokensSchema } from "./answers.ts";
import { DIALECT_ID } from "./names.ts";
import { nativeContent } from "./native.ts";
import { contentRequestSchema, parseModelName, toConversation } from "./request.ts";
import { toContentResponse } from "./response.ts";
import { ContentStream } from "./stream.ts";

/** Paths of a model. A colon and the verb of the endpoint follow. */
export const MODEL_PATHS = ["/v1beta/models/:model+", "/v1/models/:model+"];

/** Reads a request. The body itself does not stay in memory while the request waits. */
async function readContentRequest(
  context: Context,
  body: JsonBody,
  path: string,
  stream: boolean,
): Promise<ReadRequest<Conversation>> {
  const model = parseModelName(path);
  const read = await translateForNative(
    await prepareNativeRequest(context, nativeContent, body, { model, stream }),
    async () =>
      readWithModelNames(
        context,
        parseWith(contentRequestSchema, body.value),
        (requestBody, nameConfig) => toConversation(requestBody, path, stream, nameConfig),
        { dialect: DIALECT_ID, operation: "chat" },
      ),
    async () => {
      const { config } = await context.config();
      return describeConversation(nativeContent, body, resolveModel(model, config), stream);
    },
  );
  return refersToFiles(read.translated) ? { ...read, native: undefined } : read;
}

async function generate(
  context: Context,
  caller: Caller,
  body: JsonBody,
  reading: Promise<ReadRequest<Conversation>>,
): Promise<Response> {
  const { translated: conversation, native } = await reading;
  return answerConversation(
    { context, caller, conversation, native, retainedData: native?.request.text },
    body.value,
    { stream: (info) => new ContentStream(info), body: toContentResponse },
  );
}

/** `POST /v1beta/models/{model}:generateContent` and the same under `/v1` (docs/contract/generations.md). */
export const generateContent: CallerEndpoint = rawBodyEndpoint({
  method: "POST",
  path: MODEL_PATHS,
  verb: "generateContent",
  summary: "Generate content",
  acceptsIdempotencyKey: true,
  body: contentRequestSchema,
  answers: contentAnswers,
  handler: (context, { caller, body, params }) =>
    generate(context, caller, body, readContentRequest(context, body, params["model"] ?? "", false)),
});

/** `POST /v1beta/models/{model}:streamGenerateContent` and the same under `/v1` (docs/contract/generations.md). */
export const streamContent: CallerEndpoint = rawBodyEndpoint({
  method: "POST",
  path: MODEL_PATHS,
  verb: "streamGenerateContent",
  summary: "Generate content as a stream",
  acceptsIdempotencyKey: true,
  body: contentRequestSchema,
  answers: contentStreamAnswers,
  handler: (context, { caller, body, params }) =>
    generate(context, caller, body, readContentRequest(context, body, params["model"] ?? "", true)),
});

/**
 * The body of `:countTokens`: `contents`, or a whole request under `generateContentRequest` (camel case or snake case).
 */
const countSchema = withAliasForms(
  contentRequestSchema,
  () => [z.looseObject({ generateContentRequest: contentRequestSchema })],
  (body) => {
    if (!isObject(body)) return body;
    return body["generateContentRequest"] ?? body["generate_content_request"] ?? body;
  },
);

/** `POST /v1beta/models/{model}:countTokens`: counts the prompt tokens of a request. */
export const countContentTokens: CallerEndpoint = callerEndpoint({
  method: "POST",
  path: MODEL_PATHS,
  verb: "countTokens",
  summary: "Count the tokens of contents",
  body: countSchema,
  answers: jsonResponse(totalTokensSchema),
  handler: async (context, { body, params }) => {
    const { config } = await context.config();
    const conversation = toConversation(body, params["model"] ?? "", false, config);
    return Response.json({ totalTokens: await countPromptTokens(context, conversation) });
  },
});
