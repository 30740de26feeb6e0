import type { UpstreamTurn } from "../answers/upstream-turn.ts";
import { parseRecord } from "../json.ts";
import { eventStreamOf, isWhole, mediaTypeOf, readAnswerText } from "../transport.ts";
import type { AnswerReader } from "./keyed-protocol.ts";

/** Accepted media types of streams. Clients of the public APIs do not check the type, so some backends send a wrong one. */
const STREAM_TYPES = ["text/event-stream", "text/plain"];

/** Opens the turn of a response. Some backends stream, or answer in one piece, regardless of the request. */
export async function openTurn(
  response: Response,
  sessionId: string,
  reader: AnswerReader,
  signal: AbortSignal,
): Promise<UpstreamTurn> {
  if (isWhole(mediaTypeOf(response))) {
    let text = "";
    const read = async () => {
      text = await readAnswerText(response, signal);
      return reader.readWhole(parseRecord(text));
    };
    return { sessionId, read, text: () => text };
  }
  return {
    sessionId,
    body: await eventStreamOf(response, STREAM_TYPES),
    decoder: reader.createStreamDecoder(),
  };
}
