import { WholeAnswerDecoder } from "../../../../../src/gateway/providers/answers/whole-answer.ts";
import {
  ContentStreamDecoder,
  decodeWholeAnswer,
} from "../../../../../src/gateway/providers/gemini/decoder.ts";
import { type DecoderFactory, runWith, SECRET } from "../support.ts";

function context() {
  let made = 0;
  return { secret: SECRET, newId: () => `made-${++made}` };
}

export const createDecoder: DecoderFactory = (rememberSignature = () => undefined) =>
  new ContentStreamDecoder({ ...context(), rememberSignature });

export const createWholeDecoder: DecoderFactory = () =>
  new WholeAnswerDecoder((content) => decodeWholeAnswer(content, context()));

export const run = runWith(createDecoder);

/** Decodes an answer in one piece. */
export const runWhole = (answer: object) => runWith(createWholeDecoder)(JSON.stringify(answer));

export const data = (piece: unknown) => `data: ${JSON.stringify(piece)}\n\n`;
export const says = (parts: readonly unknown[], more: object = {}) =>
  data({ candidates: [{ content: { parts }, ...more }], responseId: "r" });
export const ends = (reason: string) => data({ candidates: [{ finishReason: reason }], responseId: "r" });
