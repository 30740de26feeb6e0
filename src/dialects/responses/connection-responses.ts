import type { ConnectionResponses, StoredResponse } from "../../platform/responses.ts";

/** So many responses of a connection can be continued, */
const MAX_KEPT = 4;
/** and so many characters: of larger ones the latest alone. */
const MAX_CHARACTERS = 16_000_000;

const sizeOf = ({ body, input = "" }: StoredResponse) => body.length + input.length;

/** The latest responses of a connection, for as long as it lasts. */
export class LatestResponses implements ConnectionResponses {
  readonly #kept = new Map<string, StoredResponse>();

  get(id: string): StoredResponse | null {
    return this.#kept.get(id) ?? null;
  }

  put(response: StoredResponse): void {
    this.#kept.set(response.id, response);
    let characters = 0;
    for (const kept of this.#kept.values()) characters += sizeOf(kept);
    for (const oldest of this.#kept.values()) {
      const fits = this.#kept.size <= MAX_KEPT && characters <= MAX_CHARACTERS;
      if (fits || oldest.id === response.id) return;
      this.#kept.delete(oldest.id);
      characters -= sizeOf(oldest);
    }
  }

  /** Forgets a response: a turn that went on from it has failed. */
  remove(id: string): void {
    this.#kept.delete(id);
  }
}
