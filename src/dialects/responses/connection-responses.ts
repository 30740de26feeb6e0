import type { BodyHold } from "../../http/body-budget.ts";
import { costOfValue } from "../../http/value-cost.ts";
import type { ConnectionResponses, StoredResponse } from "../../platform/responses.ts";

/** Maximum number of responses that a connection keeps in memory. */
const MAX_KEPT = 4;

interface KeptResponse {
  readonly response: StoredResponse;
  /** Releases the memory budget of the response. */
  readonly release: () => void;
}

/**
 * The latest responses of a WebSocket connection, kept until it closes. Each response counts in the memory budget. If
 * memory runs short, the oldest responses of all connections are evicted first.
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

  /** Id of the latest response, even if it is not in memory. */
  get latest(): string | undefined {
    return this.#latest;
  }

  /** Keeps a response in memory if the memory budget allows it. */
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

  /** Removes a response. Called when a turn that continues it fails. */
  remove(id: string): void {
    this.#kept.get(id)?.release();
    this.#kept.delete(id);
  }

  /** Removes all responses. Called when the connection closes. */
  clear(): void {
    for (const id of this.#kept.keys()) this.remove(id);
  }
}
