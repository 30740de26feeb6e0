import type { JsonObject } from "../encoding/json.ts";
import { ProviderError } from "../errors/provider-error.ts";
import { MAX_EVENT_CHARS } from "./event-stream.ts";
import { parseRecord } from "./json.ts";
import type { ProviderEvent, TurnDecoder } from "./provider.ts";

/** Decodes an answer that came whole, as one JSON object, from a backend that does not stream. */
export class WholeAnswerDecoder implements TurnDecoder {
  readonly #read: (answer: JsonObject, emit: (event: ProviderEvent) => void) => void;
  readonly #utf8 = new TextDecoder();
  readonly #pieces: string[] = [];
  #length = 0;

  /** `read` turns the object into events. It may throw a `ProviderError`. */
  constructor(read: (answer: JsonObject, emit: (event: ProviderEvent) => void) => void) {
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
    const events: ProviderEvent[] = [];
    this.#read(parseRecord(this.#pieces.join("") + this.#utf8.decode()), (event) => events.push(event));
    return events;
  }
}
