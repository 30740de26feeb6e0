import { WholeAnswerDecoder } from "../../../../../src/gateway/providers/answers/whole-answer.ts";
import {
  decodeWholeResponse,
  ResponseStreamDecoder,
} from "../../../../../src/gateway/providers/openai-responses/decoder.ts";
import { type DecoderFactory, runWith, SECRET } from "../support.ts";

export function context() {
  let made = 0;
  return { secret: SECRET, newId: () => `made-${++made}` };
}

export const createDecoder: DecoderFactory = (rememberReasoning = () => undefined) =>
  new ResponseStreamDecoder({ ...context(), rememberReasoning });

export const createWholeDecoder: DecoderFactory = () =>
  new WholeAnswerDecoder((response) => decodeWholeResponse(response, context()));

export const run = runWith(createDecoder);

/** Decodes an answer in one piece. */
export const runWhole = (answer: object) => runWith(createWholeDecoder)(JSON.stringify(answer));

/** One event of a stream. */
export const event = (type: string, members: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

export const CREATED = event("response.created", { response: { id: "r1" } });
export const completed = (response: object = { status: "completed" }) =>
  event("response.completed", { response });
export const incomplete = (reason: string) =>
  event("response.incomplete", { response: { incomplete_details: { reason } } });

export const added = (output_index: number, item: object) =>
  event("response.output_item.added", { output_index, item });
export const done = (output_index: number, item: object) =>
  event("response.output_item.done", { output_index, item });
export const text = (output_index: number, delta: string, content_index = 0) =>
  event("response.output_text.delta", { output_index, content_index, delta });
export const args = (output_index: number, delta: string) =>
  event("response.function_call_arguments.delta", { output_index, delta });
export const call = (callId: string, json = "") => ({
  type: "function_call",
  call_id: callId,
  name: "f",
  arguments: json,
});
