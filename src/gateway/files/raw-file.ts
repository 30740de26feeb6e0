import { type BodyLimits, IncomingBody } from "./incoming-body.ts";
import type { UnreadBody } from "./unread-body.ts";
import type { FileHead, IncomingFile } from "./upload.ts";

/** An incoming file whose name and type are known before its bytes arrive. */
export class RawFile implements IncomingFile, UnreadBody {
  readonly content: ReadableStream<Uint8Array>;
  readonly fields = new Map<string, string>();
  readonly #body: IncomingBody;
  readonly #head: FileHead;

  /** `bytes` are the bytes of the file. Some or all of them come from `body`. */
  constructor(body: IncomingBody, head: FileHead, bytes: AsyncGenerator<Uint8Array, undefined>) {
    this.#body = body;
    this.#head = head;
    this.content = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const { done, value } = await bytes.next();
          if (done) controller.close();
          else controller.enqueue(value);
        },
      },
      { highWaterMark: 0 },
    );
  }

  async head(): Promise<FileHead> {
    return this.#head;
  }

  watch(onBroken: (error: unknown) => void): void {
    this.#body.watch(onBroken);
  }

  drain(): Promise<void> {
    return this.#body.drain();
  }

  cancel(): Promise<void> {
    return this.#body.cancel();
  }
}

/**
 * Reads a request whose whole body is the file.
 *
 * @throws GatewayError 413 for a declared length above the limit.
 */
export function readRawFile(request: Request, limits: BodyLimits, head: FileHead): RawFile {
  const body = new IncomingBody(request, limits);
  return new RawFile(body, head, readChunks(body));
}

async function* readChunks(body: IncomingBody): AsyncGenerator<Uint8Array, undefined> {
  for (let bytes = await body.read(); bytes !== null; bytes = await body.read()) yield bytes;
}
