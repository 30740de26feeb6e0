import type { BodyHold } from "../../http/body-budget.ts";
import { costOfValue } from "../../http/value-cost.ts";
import type { ConnectionResponses, StoredResponse } from "../../platform/responses.ts";

/** A connection keeps at most so many responses. */
const MAX_KEPT = 4;

interface KeptResponse {
  readonly response: StoredResponse;
  /** Gives the memory of the response back. */
  readonly release: () => void;
}

/**
 * The latest responses of a connection, for as long as it lasts. Each counts in the budget; where that is short the oldest
 * responses of all connections go first.
 */
export class LatestResponses implements ConnectionResponses {
  readonly #hold: BodyHold;
  readonly #kept = new Map<string, KeptResponse>();
  #latest: string | undefined;

  constructor(hold: BodyHold) {
    this.#hold = hold;
  }

  get(id: string): StoredResponse | null {
    return this.#kept.get(id)?.response ?? null;
  }

  /** The id of the response that was made last, whether it is kept or not. */
  get latest(): string | undefined {
    return this.#latest;
  }

  /** Keeps a response, if there is memory for it. */
  put(response: StoredResponse): void {
    const { id } = response;
    this.#latest = id;
    this.remove(id);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < MAX_KEPT) break;
      this.remove(oldest);
    }
    const release = this.#hold.takeEvictable(costOfValue(response), () => this.#kept.delete(id));
    if (release !== null) this.#kept.set(id, { response, release });
  }

  /** Forgets a response: a turn that went on from it has failed. */
  remove(id: string): void {
    this.#kept.get(id)?.release();
    this.#kept.delete(id);
  }

  /** Forgets all: the connection has ended. */
  clear(): void {
    for (const id of this.#kept.keys()) this.remove(id);
  }
}
