import { ProviderError } from "../errors/provider-error.ts";
import type { Sample } from "../platform/captures.ts";
import { getDriver } from "../provider/drivers.ts";
import type { ProviderEvent, TurnDecoder } from "../provider/provider.ts";

/** What a driver's decoder makes of one upstream answer. */
export interface ReplayedRound {
  readonly label: string;
  readonly events: readonly ProviderEvent[];
  /** How decoding ended early; null: it did not. */
  readonly failure: ProviderError | null;
}

/**
 * Puts a saved sample through the decoder of the driver that it was captured from, answer by answer.
 *
 * @param bytesPerRead how much the decoder gets at once
 */
export function replay({ meta, upstream }: Sample, bytesPerRead = 4096): ReplayedRound[] {
  let at = 0;
  return meta.rounds.map((round) => {
    const text = upstream.slice(at, at + round.length);
    at += round.length;
    return replayRound(getDriver(meta.provider).replay(round.content_type), round.label, text, bytesPerRead);
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
