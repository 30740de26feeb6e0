import type { ProviderError } from "../../../core/errors/provider-error.ts";
import type { ProviderEvent } from "../answers/provider-events.ts";
import type { TurnDecoder } from "../answers/upstream-turn.ts";

/**
 * Ends an answer before the first complete stop sequence of the caller, as a backend does whose protocol has stop
 * sequences. Text that may be the beginning of a sequence is held back until more text decides.
 */
class StopSequenceFilter {
  readonly #stops: readonly string[];
  #held = "";
  #stopSequence: string | null = null;

  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  /** Whether a stop sequence was found. Nothing after it belongs to the answer. */
  get isFound(): boolean {
    return this.#stopSequence !== null;
  }

  /** Returns the events that belong to the answer. */
  take(events: readonly ProviderEvent[]): ProviderEvent[] {
    const out: ProviderEvent[] = [];
    for (const event of events) {
      if (this.#stopSequence !== null) this.#takeLate(event, this.#stopSequence, out);
      else if (event.type === "text" && !event.isSeparator) this.#takeText(event.text, out);
      else {
        // Tokens belong to the text that follows, so they do not flush.
        if (event.type !== "tokens") this.flush(out);
        out.push(event);
      }
    }
    return out;
  }

  /** Emits the text that was held back. */
  flush(out: ProviderEvent[]): void {
    if (this.#held !== "") out.push({ type: "text", text: this.#held });
    this.#held = "";
  }

  #takeText(text: string, out: ProviderEvent[]): void {
    const buffered = this.#held + text;
    this.#held = "";
    let end = buffered.length;
    let complete = Number.POSITIVE_INFINITY;
    for (const stop of this.#stops) {
      const index = buffered.indexOf(stop);
      const after = index + stop.length;
      if (index === -1 || after > complete || (after === complete && index >= end)) continue;
      end = index;
      complete = after;
      this.#stopSequence = stop;
    }
    const heldLength = this.#stopSequence === null ? this.#partialMatchLength(buffered) : 0;
    const released = buffered.slice(0, end - heldLength);
    if (released !== "") out.push({ type: "text", text: released });
    if (this.#stopSequence === null) this.#held = buffered.slice(end - heldLength);
  }

  /** How many characters at the end of a text may be the beginning of a stop sequence. */
  #partialMatchLength(text: string): number {
    let longest = 0;
    for (const stop of this.#stops) {
      for (let length = Math.min(stop.length - 1, text.length); length > longest; length -= 1) {
        if (text.endsWith(stop.slice(0, length))) longest = length;
      }
    }
    return longest;
  }

  #takeLate(event: ProviderEvent, stopSequence: string, out: ProviderEvent[]): void {
    if (event.type === "usage") out.push(event);
    if (event.type === "finish") out.push({ type: "finish", reason: "stop", stopSequence });
  }
}

/** Ends a stream at a stop sequence. It does not wait for the rest of the backend's answer. */
export class StoppingDecoder implements TurnDecoder {
  readonly #decoder: TurnDecoder;
  readonly #stops: StopSequenceFilter;

  constructor(decoder: TurnDecoder, stops: readonly string[]) {
    this.#decoder = decoder;
    this.#stops = new StopSequenceFilter(stops);
  }

  get ended(): boolean {
    return this.#stops.isFound || this.#decoder.ended === true;
  }

  get failure(): ProviderError | null {
    return this.#stops.isFound ? null : (this.#decoder.failure ?? null);
  }

  push(bytes: Uint8Array): readonly ProviderEvent[] {
    return this.#stops.isFound ? [] : this.#take(this.#decoder.push(bytes));
  }

  finish(): readonly ProviderEvent[] {
    return this.#stops.isFound ? [] : this.#take(this.#decoder.finish());
  }

  #take(events: readonly ProviderEvent[]): ProviderEvent[] {
    const out = this.#stops.take(events);
    const finished = out.at(-1)?.type === "finish";
    // Emits `finish` exactly once: the backend's own `finish` may or may not be in the same read.
    if (this.#stops.isFound && !finished) out.push(...this.#stops.take([{ type: "finish", reason: "stop" }]));
    return out;
  }
}

/** The events of a whole answer up to the first stop sequence. */
export function cutAtStopSequence(
  events: readonly ProviderEvent[],
  stops: readonly string[],
): readonly ProviderEvent[] {
  return new StopSequenceFilter(stops).take(events);
}
