import { ByteCollector } from "../encoding/byte-collector.ts";
import type { Context } from "../ports/context.ts";

/** Longest answer that is recorded, in bytes. */
const MAX_RECORDED_BYTES = 4 * 1024 * 1024;

/** An answer as it was sent. */
export interface RecordedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** What happens to an answer whose client leaves: it is recorded to its end, or it ends and is not recorded. */
type DepartureMode = "record" | "end";

/** How an answer is recorded. */
interface RecordingOptions {
  /** Settles when the answer was sent to the recorder. Undefined: the answer is whole already. */
  readonly sending: Promise<void> | undefined;
  readonly onDeparture: DepartureMode;
  /** Called with the whole answer, or with null; the client gets the answer's end when it has settled. */
  readonly settle: (answer: RecordedAnswer | null) => Promise<void>;
}

/** Forwards a successful answer to the client and records it. Returns the answer for the client. */
export async function recordAnswer(
  context: Pick<Context, "memory" | "keepUntil" | "waitUntil">,
  answer: Response,
  { sending, onDeparture, settle }: RecordingOptions,
): Promise<Response> {
  const { status, headers, body: stream } = answer;
  if (!answer.ok || stream === null) {
    await settle(null);
    return answer;
  }
  if (sending !== undefined) {
    const recorder = new AnswerRecorder(
      context,
      stream,
      { sending, onDeparture, settle },
      { status, headers },
    );
    return recorder.response;
  }
  const { bytes, rest } = await readRecordable(stream, context.memory);
  if (rest !== null) {
    await settle(null);
    return new Response(prepend(bytes.pieces, rest), { status, headers });
  }
  const body = bytes.join();
  await settle({ status, headers: Object.fromEntries(headers), body });
  return new Response(body, { status, headers });
}

/**
 * Reads an answer that is whole already, as far as it is recorded.
 *
 * @returns its bytes; `rest`: what follows them, if it is too long or the memory budget has no room; null: nothing
 */
async function readRecordable(
  stream: ReadableStream<Uint8Array>,
  memory: Context["memory"],
): Promise<{ bytes: ByteCollector; rest: ReadableStreamDefaultReader<Uint8Array> | null }> {
  const reader = stream.getReader();
  const bytes = new ByteCollector();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { bytes, rest: null };
    bytes.push(value);
    if (bytes.length > MAX_RECORDED_BYTES || !memory.tryReserve(value.byteLength))
      return { bytes, rest: reader };
  }
}

/** The bytes that were read, and what follows them. */
function prepend(
  head: readonly Uint8Array[],
  rest: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => {
      for (const chunk of head) controller.enqueue(chunk);
    },
    pull: async (controller) => {
      const { done, value } = await rest.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => rest.cancel(reason),
  });
}

/**
 * Forwards an answer to the client and records it on the way. An answer that is too long, or for which the memory
 * budget has no room, is not recorded; then the client's pace counts.
 */
class AnswerRecorder {
  /** The answer for the client. */
  readonly response: Response;
  readonly #memory: Context["memory"];
  /** Null: the answer is not recorded. */
  #recorded: ByteCollector | null = new ByteCollector();
  #hasClient = true;
  #wake: () => void = () => undefined;

  constructor(
    { memory, keepUntil, waitUntil }: Pick<Context, "memory" | "keepUntil" | "waitUntil">,
    stream: ReadableStream<Uint8Array>,
    { sending, onDeparture, settle }: RecordingOptions,
    { status, headers }: Pick<Response, "status" | "headers">,
  ) {
    this.#memory = memory;
    const reader = stream.getReader();
    let client: ReadableStreamDefaultController<Uint8Array> | undefined;
    const readable = new ReadableStream<Uint8Array>({
      start: (controller) => {
        client = controller;
      },
      pull: () => this.#wake(),
      cancel: () => {
        this.#hasClient = false;
        this.#wake();
        if (onDeparture === "record") return;
        this.#recorded = null;
        return reader.cancel();
      },
    });
    const forward = async () => {
      let recorded: RecordedAnswer | null = null;
      try {
        try {
          await this.#forward(reader, client);
        } finally {
          // The outcome is known when the answer was sent, even if its client left.
          await sending;
        }
        if (this.#recorded !== null) {
          const body = this.#recorded.join();
          recorded = { status, headers: Object.fromEntries(headers), body };
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
    reader: ReadableStreamDefaultReader<Uint8Array>,
    client: ReadableStreamDefaultController<Uint8Array> | undefined,
  ): Promise<void> {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      this.#record(value);
      if (this.#hasClient) client?.enqueue(value);
      if (this.#recorded !== null) continue;
      while (this.#hasClient && (client?.desiredSize ?? 1) <= 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      if (!this.#hasClient) return reader.cancel();
    }
  }

  #record(chunk: Uint8Array): void {
    if (this.#recorded === null) return;
    const isShort = this.#recorded.length + chunk.byteLength <= MAX_RECORDED_BYTES;
    if (isShort && this.#memory.tryReserve(chunk.byteLength)) this.#recorded.push(chunk);
    else this.#recorded = null;
  }
}
