import type { TurnDecoder } from "../answers/upstream-turn.ts";
import { WholeAnswerDecoder } from "../answers/whole-answer.ts";
import { isWhole } from "../transport.ts";
import type { AnswerReader } from "./keyed-protocol.ts";

/** The context for the reader of a captured answer. There is no token to mask, and the same capture yields the same ids. */
interface ReplayContext {
  readonly secret: "";
  readonly newId: () => string;
}

/** Creates a decoder for a captured answer of the given media type: JSON or a stream. */
export function createReplayDecoder(
  contentType: string,
  createReader: (context: ReplayContext) => AnswerReader,
): TurnDecoder {
  let count = 0;
  const reader = createReader({ secret: "", newId: () => `replayed-${++count}` });
  return isWhole(contentType)
    ? new WholeAnswerDecoder((answer) => reader.readWhole(answer))
    : reader.createStreamDecoder();
}
