import { concatBytes } from "../encoding/bytes.ts";
import type { Context } from "../ports/context.ts";
import type { ReplayAnswer } from "../ports/replays.ts";

/** Longest answer that is recorded, in bytes. */
const MAX_RECORDED_BYTES = 4 * 1024 * 1024;

/**
 * Forwards an answer to the client and records it on the way. It reads the answer to its end even if the client leaves. An
 * answer that is too long, or for which the memory budget has no room, is not recorded; then the client's pace counts.
 */
export class AnswerRecorder {
  /** The answer for the client. */
  readonly response: Response;
  readonly #memory: Context["memory"];
  #chunks: Uint8Array[] | null = [];
  #bytes = 0;
  #hasClient = true;
  #wake: () => void = () => undefined;

  /**
   * @param sending settles when the answer was sent to this recorder
   * @param settle called with the whole answer, or with null; the client gets the answer's end when it has settled
   */
  constructor(
    { memory, keepUntil, waitUntil }: Pick<Context, "memory" | "keepUntil" | "waitUntil">,
    answer: Response,
    sending: Promise<void>,
    settle: (answer: ReplayAnswer | null) => Promise<void>,
  ) {
    this.#memory = memory;
    const { status, headers, body } = answer;
    let client: ReadableStreamDefaultController<Uint8Array> | undefined;
    const readable = new ReadableStream<Uint8Array>({
      start: (controller) => {
        client = controller;
      },
      pull: () => this.#wake(),
      cancel: () => {
        this.#hasClient = false;
        this.#wake();
      },
    });
    const forward = async () => {
      let recorded: ReplayAnswer | null = null;
      try {
        await this.#forward(body, client);
        await sending;
        if (this.#chunks !== null) {
          const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
            concatBytes(this.#chunks),
          );
          recorded = { status, headers: Object.fromEntries(headers), body: text };
        }
        await settle(recorded);
        if (this.#hasClient) client?.close();
      } catch (error) {
        await settle(null);
        if (this.#hasClient) client?.error(error);
      }
    };
    const forwarding = forward();
    keepUntil(forwarding);
    waitUntil(forwarding);
    this.response = new Response(readable, { status, headers });
  }

  async #forward(
    body: ReadableStream<Uint8Array> | null,
    client: ReadableStreamDefaultController<Uint8Array> | undefined,
  ): Promise<void> {
    if (body === null) return;
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      this.#record(value);
      if (this.#hasClient) client?.enqueue(value);
      if (this.#chunks !== null) continue;
      while (this.#hasClient && (client?.desiredSize ?? 1) <= 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      if (!this.#hasClient) return reader.cancel();
    }
  }

  #record(chunk: Uint8Array): void {
    if (this.#chunks === null) return;
    this.#bytes += chunk.byteLength;
    if (this.#bytes <= MAX_RECORDED_BYTES && this.#memory.tryReserve(chunk.byteLength)) {
      this.#chunks.push(chunk);
    } else this.#chunks = null;
  }
}
