import * as z from "zod";
import type { Caller } from "../../../core/auth/callers.ts";
import { isObject } from "../../../core/encoding/json.ts";
import type { Context } from "../../../core/ports/context.ts";
import { withAliasForms } from "../../../core/routing/alias-forms.ts";
import { type CallerEndpoint, callerEndpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { readWithModelNames } from "../../models/read-with-model-names.ts";
import { answerConversation } from "../shared/answer-conversation.ts";
import { countPromptTokens } from "../shared/count-tokens.ts";
import { contentAnswers, contentStreamAnswers, totalTokensSchema } from "./answers.ts";
import { DIALECT_ID } from "./names.ts";
import { type ContentRequest, contentRequestSchema, toConversation } from "./request.ts";
import { toContentResponse } from "./response.ts";
import { ContentStream } from "./stream.ts";

/** Paths of a model. A colon and the verb of the endpoint follow. */
export const MODEL_PATHS = ["/v1beta/models/:model+", "/v1/models/:model+"];

async function generate(
  context: Context,
  caller: Caller,
  body: ContentRequest,
  model: string,
  stream: boolean,
): Promise<Response> {
  const conversation = await readWithModelNames(
    context,
    body,
    (requestBody, nameConfig) => toConversation(requestBody, model, stream, nameConfig),
    { dialect: DIALECT_ID, operation: "chat" },
  );
  return answerConversation(
    { context, caller, conversation },
    { stream: (info) => new ContentStream(info), body: toContentResponse },
  );
}

/** `POST /v1beta/models/{model}:generateContent` and the same under `/v1` (contract). */
export const generateContent: CallerEndpoint = callerEndpoint({
  method: "POST",
  path: MODEL_PATHS,
  takesAccount: true,
  verb: "generateContent",
  summary: "Generate content",
  body: contentRequestSchema,
  answers: contentAnswers,
  handler: (context, { caller, body, params }) =>
    generate(context, caller, body, params["model"] ?? "", false),
});

/** `POST /v1beta/models/{model}:streamGenerateContent` and the same under `/v1` (contract). */
export const streamContent: CallerEndpoint = callerEndpoint({
  method: "POST",
  path: MODEL_PATHS,
  takesAccount: true,
  verb: "streamGenerateContent",
  summary: "Generate content as a stream",
  body: contentRequestSchema,
  answers: contentStreamAnswers,
  handler: (context, { caller, body, params }) =>
    generate(context, caller, body, params["model"] ?? "", true),
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
