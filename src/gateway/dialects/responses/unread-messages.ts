import type { MemoryReservation } from "../../../core/http/memory-budget.ts";
import { costOfText } from "../../../core/http/value-cost.ts";
import type { ServerSocket } from "../../../core/ports/web-socket.ts";

/** Unread bytes above which sending waits for the client to read. */
const BACKPRESSURE_BYTES = 1_000_000;
/** Unread bytes above which the client may not send further requests. */
const MAX_UNREAD_BYTES = 4 * BACKPRESSURE_BYTES;

/**
 * Counts the messages that were sent over a connection and may still be in memory. Every byte counts in the memory budget
 * until the network has accepted it.
 *
 * Workers do not report that. There, the bytes of a client without a managed key count until the client proves that it has
 * read them: when it continues the response of a turn, it has read everything that was sent before that turn. Clients with
 * a managed key are trusted to read.
 */
export class UnreadMessages {
  readonly #reservation: MemoryReservation;
  readonly #socket: ServerSocket;
  #bytes = 0;
  /** The part of `#bytes` whose delivery the runtime does not report. */
  #unreported = 0;
  #unreportedAtStart = 0;
  /** Id of the connection's latest response at the end of the latest turn. */
  #latestResponseId: string | undefined;
  /** If the client continues the response `id`, it has read `bytes` of the unreported bytes. */
  #readProof: { readonly id: string; readonly bytes: number } | undefined;

  constructor(reservation: MemoryReservation, socket: ServerSocket) {
    this.#reservation = reservation;
    this.#socket = socket;
  }

  /** Whether the client has too many unread bytes to send further requests. */
  get hasTooManyBytes(): boolean {
    return this.#bytes > MAX_UNREAD_BYTES;
  }

  /** Starts a turn that continues the response `previous`. */
  startTurn(previous: string | undefined): void {
    if (previous !== undefined && previous === this.#readProof?.id) {
      this.#unreported -= this.#readProof.bytes;
      this.#release(this.#readProof.bytes);
      this.#readProof = undefined;
    }
    this.#unreportedAtStart = this.#unreported;
  }

  /** Ends a turn. `latest` is the connection's latest response. */
  endTurn(latest: string | undefined): void {
    if (latest === undefined || latest === this.#latestResponseId) return;
    this.#latestResponseId = latest;
    this.#readProof = { id: latest, bytes: this.#unreportedAtStart };
  }

  /**
   * Sends a message. The promise resolves when the client has few unread bytes. Returns null if the memory budget is
   * exhausted.
   */
  send(text: string): Promise<void> | null {
    const bytes = costOfText(text);
    if (!this.#reservation.tryReserve(bytes)) return null;
    this.#bytes += bytes;
    const sent = this.#socket.send(text);
    if (sent === null) {
      if (this.#reservation.isKnown) this.#release(bytes);
      else this.#unreported += bytes;
      return Promise.resolve();
    }
    const released = sent.then(() => this.#release(bytes));
    return this.#bytes > BACKPRESSURE_BYTES ? released : Promise.resolve();
  }

  #release(bytes: number): void {
    this.#bytes -= bytes;
    this.#reservation.releaseBytes(bytes);
  }
}
