import type { MemoryReservation } from "../../core/http/memory-budget.ts";
import { costOfText } from "../../core/http/value-cost.ts";
import type { ServerSocket } from "../../core/ports/web-socket.ts";

/** Unsent bytes above which the sender has to wait, and below which it goes on. */
const PAUSE_BYTES = 1024 * 1024;
const RESUME_BYTES = PAUSE_BYTES / 2;

/** Unsent bytes at which the connection ends, for callers with a key of the gateway and for all others. */
const MAX_UNSENT_BYTES = 32 * 1024 * 1024;
const STRANGERS_UNSENT_BYTES = 4 * 1024 * 1024;

/**
 * One direction of a connection. Its messages count in the memory budget until the network has taken them. Where the runtime
 * can, the sender has to wait for a slow receiver. Where the runtime does not report what was taken, messages count until
 * the receiver sends something itself.
 */
export class SocketPipe {
  readonly #memory: MemoryReservation;
  readonly #from: ServerSocket;
  readonly #to: ServerSocket;
  #unsentBytes = 0;
  /** The part of the unsent bytes whose delivery the runtime does not report. */
  #unreportedBytes = 0;
  #isPaused = false;

  constructor(memory: MemoryReservation, from: ServerSocket, to: ServerSocket) {
    this.#memory = memory;
    this.#from = from;
    this.#to = to;
  }

  /** Sends a message. Returns false if there is no memory for it. */
  send(text: string): boolean {
    const bytes = costOfText(text);
    const limit = this.#memory.isKnown ? MAX_UNSENT_BYTES : STRANGERS_UNSENT_BYTES;
    // A single message may be longer.
    if (this.#unsentBytes > limit || !this.#memory.tryReserve(bytes)) return false;
    this.#unsentBytes += bytes;
    const sent = this.#to.send(text);
    if (sent === null) this.#unreportedBytes += bytes;
    else void sent.then(() => this.#release(bytes));
    if (this.#unsentBytes > PAUSE_BYTES && !this.#isPaused) {
      this.#isPaused = true;
      this.#from.pause?.();
    }
    return true;
  }

  /** The receiver has sent a message: it has probably taken what was sent to it. */
  confirmTaken(): void {
    const bytes = this.#unreportedBytes;
    this.#unreportedBytes = 0;
    if (bytes > 0) this.#release(bytes);
  }

  #release(bytes: number): void {
    this.#unsentBytes -= bytes;
    this.#memory.releaseBytes(bytes);
    if (!this.#isPaused || this.#unsentBytes > RESUME_BYTES) return;
    this.#isPaused = false;
    this.#from.resume?.();
  }
}
