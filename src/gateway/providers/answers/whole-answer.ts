import type { JsonObject } from "../../../core/encoding/json.ts";
import { ProviderError } from "../../../core/errors/provider-error.ts";
import { parseRecord } from "../json.ts";
import { MAX_EVENT_CHARS } from "./event-stream.ts";
import type { ProviderEvent } from "./provider-events.ts";
import type { TurnDecoder } from "./upstream-turn.ts";

/** Decodes the bytes of a non-streamed answer as one JSON object. */
export class WholeAnswerDecoder implements TurnDecoder {
  readonly #read: (answer: JsonObject) => readonly ProviderEvent[];
  /** The byte order mark is removed in the end: the decoder of Node removes two if the first one is cut. */
  readonly #utf8 = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
  readonly #pieces: string[] = [];
  #length = 0;

  /** @param read turns the object into events. It may throw a `ProviderError`. */
  constructor(read: (answer: JsonObject) => readonly ProviderEvent[]) {
    this.#read = read;
  }

  push(bytes: Uint8Array): readonly ProviderEvent[] {
    const piece = this.#utf8.decode(bytes, { stream: true });
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length > MAX_EVENT_CHARS) {
      throw new ProviderError("malformed", "the provider's answer is too long");
    }
    return [];
  }

  finish(): readonly ProviderEvent[] {
    const text = this.#pieces.join("") + this.#utf8.decode();
    return this.#read(parseRecord(text.startsWith("\uFEFF") ? text.slice(1) : text));
  }
}
