import type { Caller } from "../../../core/auth/callers.ts";
import { isObject } from "../../../core/encoding/json.ts";
import { type JsonBody, parseWith } from "../../../core/http/json-body.ts";
import type { Context } from "../../../core/ports/context.ts";
import { callerEndpoint, jsonResponse, rawBodyEndpoint } from "../../../core/routing/endpoint.ts";
import { resolveModel } from "../../models/resolve-model.ts";
import { answerConversation } from "../shared/answer-conversation.ts";
import { countPromptTokens } from "../shared/count-tokens.ts";
import { DeclaredTools } from "../shared/declared-tools.ts";
import {
  describeConversation,
  prepareNativeRequest,
  type ReadRequest,
  refersToFiles,
  translateForNative,
} from "../shared/native-request.ts";
import { ResponsesAnswer } from "./answer.ts";
import { responseAnswers, tokenCountSchema } from "./answers.ts";
import { nativeResponses, withStoredItems } from "./native.ts";
import { getInputItems, type ResponsesRequest, responsesRequestSchema } from "./request.ts";
import { CHAT_USAGE, type ResponsesInput, readResponsesInput } from "./responses-input.ts";

/** A request that was validated, with the data that it refers to. */
interface ReadResponsesRequest {
  readonly body: ResponsesRequest;
  readonly responsesInput: ResponsesInput;
}

async function readResponsesRequest(
  context: Context,
  caller: Caller,
  raw: JsonBody,
): Promise<ReadRequest<ReadResponsesRequest>> {
  const { model, stream: isStreamed, background, generate } = isObject(raw.value) ? raw.value : {};
  const stream = isStreamed === true;
  // A response in the background, or without a generation, is the gateway's own.
  const canPass = background !== true && generate !== false;
  const prepared = canPass
    ? await prepareNativeRequest(context, nativeResponses, raw, { model, stream })
    : null;
  const read = await translateForNative<ReadResponsesRequest>(
    prepared,
    async () => {
      const body = parseWith(responsesRequestSchema, raw.value);
      return { body, responsesInput: await readResponsesInput(context, caller, body, CHAT_USAGE) };
    },
    async () => {
      const { config } = await context.config();
      const conversation = describeConversation(
        nativeResponses,
        raw,
        resolveModel(String(model), config),
        stream,
      );
      const store = isObject(raw.value) ? raw.value["store"] !== false : true;
      const body = parseWith(responsesRequestSchema, { model, input: [], stream, store });
      const translated = { conversation, tools: new DeclaredTools(), history: conversation.messages };
      return { body, responsesInput: { translated, previous: null, items: [] } };
    },
  );
  const { body, responsesInput } = read.translated;
  if (read.native === undefined || refersToFiles(responsesInput.translated.conversation)) {
    return { ...read, native: undefined };
  }
  const ownItems = read.native.translationError === undefined ? getInputItems(body) : [];
  const isOnConnection = context.connection !== undefined;
  return { ...read, native: withStoredItems(read.native, responsesInput, ownItems, isOnConnection) };
}

/** `POST /v1/responses` (docs/contract/generations.md). */
export const createResponse = rawBodyEndpoint({
  method: "POST",
  path: ["/v1/responses", "/responses"],
  summary: "Create a response",
  acceptsIdempotencyKey: true,
  body: responsesRequestSchema,
  answers: responseAnswers,
  handler: async (context, { caller, body: raw }) => {
    const { translated, native } = await readResponsesRequest(context, caller, raw);
    const { body, responsesInput } = translated;
    const answer = new ResponsesAnswer(context, caller, body, responsesInput);
    if (body["generate"] === false) return answer.answerWithoutGeneration();
    return answerConversation(
      {
        context,
        caller,
        conversation: responsesInput.translated.conversation,
        native,
        retainedData: [body, responsesInput, native?.request.text],
      },
      raw.value,
      answer,
    );
  },
});

/** `POST /v1/responses/input_tokens` (docs/contract/generations.md): counts the prompt tokens of the same request. */
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
