import type { AnswerReader } from "./keyed-backend.ts";
import type { TurnDecoder } from "./provider.ts";
import { isWhole } from "./transport.ts";
import { WholeAnswerDecoder } from "./whole-answer.ts";

/** What the reader of a captured answer is told: there is no token to hide, and the same capture gives the same ids. */
interface ReplayContext {
  readonly secret: "";
  readonly newId: () => string;
}

/** A decoder for a captured answer of that media type, which may have come whole or as a stream. */
export function replayed(
  contentType: string,
  readerOf: (context: ReplayContext) => AnswerReader,
): TurnDecoder {
  let made = 0;
  const reader = readerOf({ secret: "", newId: () => `replayed-${++made}` });
  return isWhole(contentType) ? new WholeAnswerDecoder((answer) => reader.whole(answer)) : reader.streamed();
}
