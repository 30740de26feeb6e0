import type { Conversation } from "../../src/core/conversation/conversation.ts";
import { parseWith } from "../../src/core/http/json-body.ts";
import {
  chatRequestSchema,
  translateChatRequest as fromChat,
} from "../../src/gateway/dialects/chat-completions/request.ts";
import {
  completionRequestSchema,
  toConversation as fromCompletion,
} from "../../src/gateway/dialects/completions/request.ts";
import {
  contentRequestSchema,
  toConversation as fromContents,
} from "../../src/gateway/dialects/content-generation/request.ts";
import {
  toConversation as fromMessages,
  messageRequestSchema,
} from "../../src/gateway/dialects/messages/request.ts";
import {
  chatSchema,
  generateSchema,
  translateRunnerChatRequest,
  translateRunnerGenerateRequest,
} from "../../src/gateway/dialects/model-runner/request.ts";
import {
  getInputItems,
  responsesRequestSchema,
  translateResponsesRequest,
} from "../../src/gateway/dialects/responses/request.ts";
import { resolveModel } from "../../src/gateway/models/resolve-model.ts";
import { RequestBuilder as MessagesRequest } from "../../src/gateway/providers/anthropic/request.ts";
import { RequestBuilder as ContentRequest } from "../../src/gateway/providers/gemini/request.ts";
import { RequestBuilder as CompletionsRequest } from "../../src/gateway/providers/openai/request.ts";
import { RequestBuilder as ResponsesRequest } from "../../src/gateway/providers/openai-responses/request.ts";
import type { PrepareOptions } from "../../src/gateway/providers/provider.ts";
import { composePrompt, renderTranscript } from "../../src/gateway/providers/sessions/prompt.ts";

const MODEL = "provider-v4-flash";

/** Parses a request's JSON to a conversation, for every style. Throws a `GatewayError` for invalid requests. */
export const PARSERS: Readonly<Record<string, (body: unknown) => Conversation>> = {
  "chat-completions": (body) => fromChat(parseWith(chatRequestSchema, body), {}).conversation,
  completions: (body) => fromCompletion(parseWith(completionRequestSchema, body), {}),
  responses: (body) => {
    const request = parseWith(responsesRequestSchema, body);
    return translateResponsesRequest(request, getInputItems(request), [], {}).conversation;
  },
  messages: (body) => fromMessages(parseWith(messageRequestSchema, body), {}),
  "content-generation": (body) => fromContents(parseWith(contentRequestSchema, body), MODEL, true, {}),
  "model-runner": (body) => translateRunnerChatRequest(parseWith(chatSchema, body), resolveModel(MODEL, {})),
  "model-runner, generate": (body) =>
    translateRunnerGenerateRequest(parseWith(generateSchema, body), resolveModel(MODEL, {})),
};

const OPTIONS: PrepareOptions = {
  thinkingInjection: "Think.",
  inputFileMinChars: null,
  fetchAttachment: async () => ({ bytes: new Uint8Array(), mediaType: "text/plain" }),
};

const responsesRequest = (conversation: Conversation, toolCalls: "native" | "markup") =>
  new ResponsesRequest(conversation, OPTIONS, { model: MODEL, toolCalls, whole: false }, () => undefined);

const contentRequest = (conversation: Conversation, toolCalls: "native" | "markup") =>
  new ContentRequest(
    conversation,
    OPTIONS,
    { model: MODEL, toolCalls, whole: false },
    () => undefined,
    "http://backend.example/v1beta/files",
  );

const messagesRequest = (conversation: Conversation, toolCalls: "native" | "markup") =>
  new MessagesRequest(conversation, OPTIONS, { model: MODEL, toolCalls, whole: false }, () => ({
    blocksBefore: () => undefined,
    mustBeComplete: true,
  }));

/** Renders a conversation to the complete model input, for every driver's protocol, with native calls and as markup. */
export const PROMPTS: Readonly<Record<string, (conversation: Conversation) => string>> = {
  sessions: (conversation) => composePrompt(renderTranscript(conversation, "Think."), ""),
  "openai, native": (conversation) =>
    new CompletionsRequest(conversation, OPTIONS, { model: MODEL, toolCalls: "native", whole: false })
      .promptText,
  "openai, markup": (conversation) =>
    new CompletionsRequest(conversation, OPTIONS, { model: MODEL, toolCalls: "markup", whole: false })
      .promptText,
  "openai-responses, native": (conversation) => responsesRequest(conversation, "native").promptText,
  "openai-responses, markup": (conversation) => responsesRequest(conversation, "markup").promptText,
  "anthropic, native": (conversation) => messagesRequest(conversation, "native").promptText,
  "anthropic, markup": (conversation) => messagesRequest(conversation, "markup").promptText,
  "gemini, native": (conversation) => contentRequest(conversation, "native").promptText,
  "gemini, markup": (conversation) => contentRequest(conversation, "markup").promptText,
};
