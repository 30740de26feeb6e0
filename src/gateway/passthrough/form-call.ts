import { ByteCollector } from "../../core/encoding/byte-collector.ts";
import { concatBytes, toUtf8 } from "../../core/encoding/bytes.ts";
import { GatewayError } from "../../core/errors/gateway-error.ts";
import { bodyTimedOut } from "../../core/http/json-text.ts";
import type { Context } from "../../core/ports/context.ts";
import { IncomingBody } from "../files/incoming-body.ts";
import { uploadLimits } from "../files/receive.ts";
import type { UnreadBody } from "../files/unread-body.ts";
import { encodePartHead } from "../providers/files/multipart.ts";
import type { PassthroughEndpoint } from "./endpoint-table.ts";
import { type FormField, FormParser, MAX_TEXT_BYTES } from "./form-parser.ts";
import { requireModelName } from "./json-call.ts";
import type { PassthroughCall, UploadObserver } from "./passthrough-call.ts";

/** How many bytes of a form are held before it is sent on while it arrives. */
const HELD_BYTES = 1024 * 1024;
/** How many bytes of a form are held while its model is unknown: as long as the files that the vendors accept. */
const MAX_HELD_BYTES = 32 * 1024 * 1024;
/** The memory of a form besides the held bytes: its texts, the header of a part, and the bytes of a few reads. */
const FORM_MEMORY_BYTES = 2 * MAX_TEXT_BYTES;
/** The slowest body that is read to its end, in bytes per second. */
const MIN_BYTES_PER_SECOND = 65_536;

/** A form that is read from its caller until its model is known, and then sent on. */
export class FormCall implements PassthroughCall, UnreadBody {
  readonly endpoint: PassthroughEndpoint;
  readonly contentType: string;
  model = "";
  readonly #context: Context;
  readonly #boundary = `form-${crypto.randomUUID()}`;
  readonly #body: IncomingBody;
  readonly #parser: FormParser;
  readonly #held = new ByteCollector();
  #heldBytes = 0;
  #hasEnded = false;
  #isBeingSent = false;
  #receivedBytes = 0;
  /** How many bytes the caller has announced. Infinity: it has not. */
  readonly #announcedBytes: number;
  /** How long the caller was waited for, milliseconds. */
  #waitedMs = 0;

  /** @throws GatewayError 400 for a body that is no form, 413 for a declared length above the limit */
  constructor(context: Context, endpoint: PassthroughEndpoint) {
    this.#context = context;
    this.endpoint = endpoint;
    const { request, pathModel } = context;
    const contentType = request.headers.get("content-type") ?? "";
    this.#parser = new FormParser(contentType, this.#boundary, pathModel === undefined);
    this.contentType = `multipart/form-data; boundary=${this.#boundary}`;
    this.#announcedBytes = Number(request.headers.get("content-length") ?? Number.POSITIVE_INFINITY);
    this.#body = new IncomingBody(request, uploadLimits(context));
  }

  /**
   * Reads until the model is known and enough bytes are held.
   *
   * @throws GatewayError 400, 408 or 413 for an invalid or slow body, or for a model that follows too large a file; 503 if
   *   the memory budget is exhausted
   */
  async readHead(): Promise<void> {
    const { memory, pathModel } = this.#context;
    if (!memory.tryReserve(FORM_MEMORY_BYTES)) await memory.reserveWhenFree(FORM_MEMORY_BYTES);
    const isModelKnown = () => (pathModel ?? this.#parser.model) !== undefined;
    // A form that has arrived is held as a whole, so that another account can get it.
    const isRestUnread = () => this.#heldBytes >= HELD_BYTES && this.#receivedBytes < this.#announcedBytes;
    while (!this.#hasEnded && !(isModelKnown() && isRestUnread())) {
      for (const piece of await this.#readNext()) await this.#hold(piece);
    }
    this.model = requireModelName(pathModel ?? this.#parser.model, this.endpoint);
  }

  get stream(): boolean {
    return this.#parser.fields.some(({ name, text }) => name === "stream" && text === "true");
  }

  get promptText(): string {
    const { textMembers } = this.endpoint;
    const texts = this.#parser.fields.filter(({ name, isFile }) => !isFile && textMembers.includes(name));
    return texts.map(({ text }) => text).join("\n");
  }

  get description(): string {
    const byName = Map.groupBy<string, FormField>(this.#parser.fields, ({ name }) => name);
    const members = [...byName].map(([name, fields]) => {
      const texts = fields.map(({ text }) => text);
      return [name, texts.length === 1 ? texts[0] : texts];
    });
    return JSON.stringify({ model: this.model, ...Object.fromEntries(members) });
  }

  get isHeld(): boolean {
    return this.#hasEnded && !this.#isBeingSent;
  }

  canReplay(): boolean {
    return !this.#isBeingSent;
  }

  createBody(model: string, observer: UploadObserver): BodyInit {
    const head = encodePartHead({ name: "model" }, this.#boundary);
    const first = model === "" ? [] : [toUtf8(`${head}${model}\r\n`)];
    if (!this.isHeld) return this.#sendWhileItArrives(first, observer);
    const pieces = [...first, ...this.#held.pieces, this.#end];
    return this.#heldBytes <= HELD_BYTES ? concatBytes(pieces) : streamOf(pieces);
  }

  async drain(): Promise<void> {
    await this.#body.drain();
  }

  async cancel(): Promise<void> {
    await this.#body.cancel();
  }

  /** The line that ends the form. */
  get #end(): Uint8Array {
    return toUtf8(`--${this.#boundary}--\r\n`);
  }

  #sendWhileItArrives(first: readonly Uint8Array[], observer: UploadObserver): ReadableStream<Uint8Array> {
    this.#isBeingSent = true;
    const pieces = [...first, ...this.#held.take()];
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            while (pieces.length === 0 && !this.#hasEnded) {
              observer.onWaitForCaller();
              pieces.push(...(await this.#readNext()));
              observer.onReceived();
            }
          } catch (error) {
            observer.onFailed(error);
            throw error;
          }
          const piece = pieces.shift();
          controller.enqueue(piece ?? this.#end);
          if (piece === undefined) controller.close();
          else this.#release(piece.length);
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Reads once. Returns the written pieces that are ready. */
  async #readNext(): Promise<Uint8Array[]> {
    const { platform } = this.#context;
    const startedAt = platform.now();
    const bytes = await this.#body.read();
    this.#waitedMs += platform.now() - startedAt;
    this.#receivedBytes += bytes?.length ?? 0;
    const allowedMs = (this.#receivedBytes * 1000) / MIN_BYTES_PER_SECOND;
    if (this.#waitedMs > platform.variables.bodyTimeoutMs + allowedMs) throw bodyTimedOut();
    if (bytes !== null) await this.#parser.write(bytes);
    else {
      await this.#parser.end();
      this.#hasEnded = true;
    }
    return this.#parser.takePieces();
  }

  async #hold(piece: Uint8Array): Promise<void> {
    const { memory } = this.#context;
    if (this.#heldBytes + piece.length > MAX_HELD_BYTES) {
      const message = `a form over ${MAX_HELD_BYTES} bytes must have its field model before its files`;
      throw new GatewayError(413, message, { code: "request_too_large", param: "model" });
    }
    if (!memory.tryReserve(piece.length)) await memory.reserveWhenFree(piece.length);
    this.#held.push(piece);
    this.#heldBytes += piece.length;
  }

  /** Releases the memory of bytes that were sent. */
  #release(bytes: number): void {
    const released = Math.min(bytes, this.#heldBytes);
    this.#heldBytes -= released;
    this.#context.memory.releaseBytes(released);
  }
}

function streamOf(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  let index = 0;
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const piece = pieces[index];
        index += 1;
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
    },
    { highWaterMark: 0 },
  );
}
