import type { Message } from "../../../../../src/core/conversation/conversation.ts";
import type { GenerationEvent, Usage } from "../../../../../src/core/conversation/events.ts";
import { parseWith } from "../../../../../src/core/http/json-body.ts";
import {
  getInputItems,
  responsesRequestSchema,
  type TranslatedResponsesRequest,
  translateResponsesRequest,
} from "../../../../../src/gateway/dialects/responses/request.ts";
import { ResponseObjectBuilder } from "../../../../../src/gateway/dialects/responses/response.ts";
import { ResponsesStream } from "../../../../../src/gateway/dialects/responses/stream.ts";
import { DeclaredTools } from "../../../../../src/gateway/dialects/shared/declared-tools.ts";
import type { AnswerInfo } from "../../../../../src/gateway/generation/generation-job.ts";

/** Translates a request body; the model is filled in. */
export function turnOf(
  body: Record<string, unknown>,
  earlier: readonly Message[] = [],
): TranslatedResponsesRequest {
  const parsed = parseWith(responsesRequestSchema, { model: "provider-v4-flash", ...body });
  return translateResponsesRequest(parsed, getInputItems(parsed), earlier, {});
}

/** The messages that a request's input becomes. */
export function messagesOf(input: unknown, extra: Record<string, unknown> = {}): readonly Message[] {
  return turnOf({ input, ...extra }).conversation.messages;
}

export const RESPONSE_ID = `resp_${"0123456789abcdef01234567"}`;
export const USAGE: Usage = { prompt: 11, completion: 7, reasoning: 3 };

/** What a renderer needs to know of an answer to `body`. */
export function infoOf(body: Record<string, unknown> = {}): AnswerInfo {
  const { conversation } = turnOf({ input: "hi", ...body });
  return { conversation, requestId: "req_1", created: 1_700_000_000, promptTokens: () => 11 };
}

/** The response object of an answer to `body`. */
export function objectOf(body: Record<string, unknown> = {}): ResponseObjectBuilder {
  const parsed = parseWith(responsesRequestSchema, { model: "provider-v4-flash", input: "hi", ...body });
  return new ResponseObjectBuilder(RESPONSE_ID, parsed, infoOf(body));
}

/** A renderer for an answer to `body`. */
export function streamOf(body: Record<string, unknown> = {}): ResponsesStream {
  const tools = new DeclaredTools();
  tools.add(body["tools"], "tools");
  const isSearchRequested = tools.webSearch !== undefined;
  return new ResponsesStream(objectOf(body), tools, () => 1_700_000_005_000, isSearchRequested);
}

/** The text of a stream with these events. */
export function render(events: readonly GenerationEvent[], body: Record<string, unknown> = {}): string {
  const stream = streamOf(body);
  return events.map((event) => stream.push(event)).join("");
}
