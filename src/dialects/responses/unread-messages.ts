import type { BodyHold } from "../../http/body-budget.ts";
import { costOfText } from "../../http/value-cost.ts";
import type { ServerSocket } from "../../platform/web-socket.ts";

/** With so many unread bytes before it, a message waits for the client to read. */
const MAX_UNREAD = 1_000_000;
/** A client with so many unread bytes may ask for nothing more. */
const MOST_UNREAD = 4 * MAX_UNREAD;

/**
 * What has been sent over a connection and may still be in memory. Every byte counts in the budget until the network has
 * taken it.
 *
 * Workers do not report when that is. There a stranger's bytes count until the client proves that it has read them: it goes
 * on from the response that a turn made, so it has read what came before that turn. Managed keys are trusted to read.
 */
export class UnreadMessages {
  readonly #hold: BodyHold;
  readonly #socket: ServerSocket;
  #bytes = 0;
  /** The part of `#bytes` about which the runtime reports nothing. */
  #unreported = 0;
  #unreportedAtStart = 0;
  /** The response that the connection made last, as of the latest turn. */
  #made: string | undefined;
  /** A client that names this response has read so many of the unreported bytes. */
  #proof: { readonly id: string; readonly bytes: number } | undefined;

  constructor(hold: BodyHold, socket: ServerSocket) {
    this.#hold = hold;
    this.#socket = socket;
  }

  /** Whether the client has too much to read to ask for more. */
  get tooMany(): boolean {
    return this.#bytes > MOST_UNREAD;
  }

  /** A turn begins, which goes on from the response `previous`. */
  startTurn(previous: string | undefined): void {
    if (previous !== undefined && previous === this.#proof?.id) {
      this.#unreported -= this.#proof.bytes;
      this.#release(this.#proof.bytes);
      this.#proof = undefined;
    }
    this.#unreportedAtStart = this.#unreported;
  }

  /** A turn ends. `latest` is the response that the connection made last. */
  endTurn(latest: string | undefined): void {
    if (latest === undefined || latest === this.#made) return;
    this.#made = latest;
    this.#proof = { id: latest, bytes: this.#unreportedAtStart };
  }

  /** Sends a message. The promise resolves when the client is not far behind. Returns null without memory for the message. */
  send(text: string): Promise<void> | null {
    const bytes = costOfText(text);
    if (!this.#hold.take(bytes)) return null;
    this.#bytes += bytes;
    const sent = this.#socket.send(text);
    if (sent === null) {
      if (this.#hold.trusted) this.#release(bytes);
      else this.#unreported += bytes;
      return Promise.resolve();
    }
    const released = sent.then(() => this.#release(bytes));
    return this.#bytes > MAX_UNREAD ? released : Promise.resolve();
  }

  #release(bytes: number): void {
    this.#bytes -= bytes;
    this.#hold.giveBack(bytes);
  }
}
