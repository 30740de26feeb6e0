import { ProviderError } from "../../core/errors/provider-error.ts";
import type { Sample } from "../../core/ports/captures.ts";
import type { ProviderEvent } from "../providers/answers/provider-events.ts";
import type { TurnDecoder } from "../providers/answers/upstream-turn.ts";
import { getDriver } from "../providers/drivers.ts";

/** The events that a driver's decoder reads from one upstream answer. */
export interface ReplayedRound {
  readonly label: string;
  readonly events: readonly ProviderEvent[];
  /** The failure that ended decoding; null: none. */
  readonly failure: ProviderError | null;
}

/**
 * Decodes a saved sample, answer by answer, with the decoder of the driver it was captured from.
 *
 * @param bytesPerRead how many bytes the decoder gets at once
 */
export function replaySample({ meta, upstream }: Sample, bytesPerRead = 4096): ReplayedRound[] {
  let at = 0;
  return meta.rounds.map((round) => {
    const text = upstream.slice(at, at + round.length);
    at += round.length;
    return replayRound(
      getDriver(meta.provider).createCaptureDecoder(round.content_type),
      round.label,
      text,
      bytesPerRead,
    );
  });
}

function replayRound(decoder: TurnDecoder, label: string, text: string, bytesPerRead: number): ReplayedRound {
  const bytes = new TextEncoder().encode(text);
  const events: ProviderEvent[] = [];
  try {
    for (let at = 0; at < bytes.length; at += bytesPerRead) {
      events.push(...decoder.push(bytes.subarray(at, at + bytesPerRead)));
      if (decoder.failure) throw decoder.failure;
    }
    events.push(...decoder.finish());
    return { label, events, failure: null };
  } catch (error) {
    if (error instanceof ProviderError) return { label, events, failure: error };
    throw error;
  }
}
