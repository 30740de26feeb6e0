import { WholeAnswerDecoder } from "../../../../../src/gateway/providers/answers/whole-answer.ts";
import {
  decodeWholeMessage,
  MessageStreamDecoder,
} from "../../../../../src/gateway/providers/anthropic/decoder.ts";
import { type DecoderFactory, runWith, SECRET } from "../support.ts";

function context() {
  let made = 0;
  return { secret: SECRET, newId: () => `made-${++made}` };
}

export const createDecoder: DecoderFactory = (rememberThinking = () => undefined) =>
  new MessageStreamDecoder({ ...context(), rememberThinking });

export const createWholeDecoder: DecoderFactory = () =>
  new WholeAnswerDecoder((message) => decodeWholeMessage(message, context()));

export const run = runWith(createDecoder);

/** One event of a stream. */
export const event = (type: string, members: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

export const begin = (message: object) => event("message_start", { message: { id: "m1", ...message } });
export const START = begin({ usage: { input_tokens: 3, output_tokens: 1 } });
export const STOP = event("message_stop");
export const block = (index: number, content: object) =>
  event("content_block_start", { index, content_block: content });
export const delta = (index: number, change: object) =>
  event("content_block_delta", { index, delta: change });
export const end = (index: number) => event("content_block_stop", { index });
export const finish = (reason: string | null) => event("message_delta", { delta: { stop_reason: reason } });
export const text = (index: number, words: string) =>
  block(index, { type: "text", text: words }) + end(index);
export const call = (index: number, id = `c${index}`) =>
  block(index, { type: "tool_use", id, name: "f", input: {} });
export const input = (index: number, json: string) =>
  delta(index, { type: "input_json_delta", partial_json: json });
