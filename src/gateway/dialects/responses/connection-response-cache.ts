import type { MemoryReservation } from "../../../core/http/memory-budget.ts";
import { costOfValue } from "../../../core/http/value-cost.ts";
import type { ConnectionResponses, StoredResponse } from "../../../core/ports/responses.ts";

/** Maximum number of responses that a connection keeps in memory. */
const MAX_CACHED_RESPONSES = 4;

interface CachedResponse {
  readonly response: StoredResponse;
  /** Releases the memory budget of the response. */
  readonly release: () => void;
}

/**
 * The latest responses of a WebSocket connection, kept until it closes. Each response counts in the memory budget. If
 * memory runs short, the oldest responses of all connections are evicted first.
 */
export class ConnectionResponseCache implements ConnectionResponses {
  readonly #reservation: MemoryReservation;
  readonly #cached = new Map<string, CachedResponse>();
  #latest: string | undefined;

  constructor(reservation: MemoryReservation) {
    this.#reservation = reservation;
  }

  get(id: string): StoredResponse | null {
    return this.#cached.get(id)?.response ?? null;
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
    for (const oldest of this.#cached.keys()) {
      if (this.#cached.size < MAX_CACHED_RESPONSES) break;
      this.remove(oldest);
    }
    const release = this.#reservation.reserveEvictable(costOfValue(response), () => this.#cached.delete(id));
    if (release !== null) this.#cached.set(id, { response, release });
  }

  /** Removes a response. Called when a turn that continues it fails. */
  remove(id: string): void {
    this.#cached.get(id)?.release();
    this.#cached.delete(id);
  }

  /** Removes all responses. Called when the connection closes. */
  clear(): void {
    for (const id of this.#cached.keys()) this.remove(id);
  }
}
