import { invalidRequest } from "../errors/gateway-error.ts";
import { type BodyLimits, IncomingBody } from "./incoming-body.ts";
import type { Rest } from "./refused-body.ts";
import type { FileHead, IncomingFile } from "./upload.ts";

/**
 * Characters of a multipart body's media type. Its boundary has at most 70 (RFC 2046, section 5.1.1), and each byte of the body
 * may be held against all of it.
 */
const MAX_TYPE = 200;

/** Reads the parts of a multipart body: Node's writable streams are so. */
export interface PartParser {
  write(bytes: Uint8Array, written: () => void): unknown;
  end(): unknown;
  on(event: "error" | "finish", listener: () => void): unknown;
}

/** Where a parser tells what it finds. */
export interface PartSink {
  field(name: string, value: string): void;
  /** The file begins; its bytes follow. */
  begin(head: FileHead): void;
  piece(bytes: Uint8Array): void;
  /** The body is no good, for this reason. */
  fail(error: unknown): void;
}

/**
 * A file in a multipart body, read as it streams in: at no moment more of it is held than one read brought. `head` reads
 * up to the file, `content` from there to the end of the whole body, so that fields after the file are known when it closes.
 */
export class MultipartFile implements IncomingFile, Rest {
  /** The file's bytes. Errors with the `GatewayError` 400, 408 or 413 that is wrong with the body. */
  readonly content: ReadableStream<Uint8Array>;
  /** Fields other than the file that mean something, so far. */
  readonly fields = new Map<string, string>();
  readonly #body: IncomingBody;
  readonly #parser: PartParser;
  readonly #broken: Promise<never>;
  readonly #finished: Promise<void>;
  #pieces: Uint8Array[] = [];
  #head: FileHead | null = null;
  #ended = false;
  #abandoned = false;
  /** The read that is under way. */
  #advancing: Promise<void> = Promise.resolve();

  /**
   * @param parserFor Makes the parser, which tells the sink what it finds.
   * @param check Called when the whole body has been read; what it throws fails the upload.
   * @throws GatewayError 400 for a boundary that is too long, 413 for a declared length beyond the limit.
   */
  constructor(
    request: Request,
    limits: BodyLimits,
    parserFor: (sink: PartSink) => PartParser,
    check: (fields: ReadonlyMap<string, string>) => void = () => undefined,
  ) {
    if ((request.headers.get("content-type") ?? "").length > MAX_TYPE) {
      throw invalidRequest("a multipart boundary has at most 70 characters");
    }
    const broken = Promise.withResolvers<never>();
    this.#broken = broken.promise;
    this.#broken.catch(() => undefined);
    this.#parser = parserFor({
      field: (name, value) => void this.fields.set(name, value),
      begin: (head) => {
        this.#head = head;
      },
      piece: (bytes) => void this.#pieces.push(bytes),
      fail: (error) => broken.reject(error),
    });
    this.#parser.on("error", () => broken.reject(invalidRequest("the multipart form is broken or cut off")));
    this.#finished = new Promise((resolve) => this.#parser.on("finish", resolve));
    this.#body = new IncomingBody(request, limits);
    this.content = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          while (this.#pieces.length === 0 && !this.#ended && !this.#abandoned) await this.#advance();
          if (this.#abandoned) throw new TypeError("the form has been given up");
          for (const piece of this.#pieces.splice(0)) controller.enqueue(piece);
          if (!this.#ended) return;
          check(this.fields);
          controller.close();
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Reads up to the file. Throws a `GatewayError` 400 when there is none. */
  async head(): Promise<FileHead> {
    while (this.#head === null && !this.#ended) await this.#advance();
    if (this.#head === null) throw invalidRequest("the form has no file in its field file", "file");
    return this.#head;
  }

  /** Gives the body up, and reads what the client still sends. Rejects when the client goes away. */
  async drain(): Promise<void> {
    this.#abandoned = true;
    await this.#advancing.catch(() => undefined);
    await this.#body.drain();
  }

  /** Gives the body up without reading on. */
  async cancel(): Promise<void> {
    this.#abandoned = true;
    await this.#body.cancel();
  }

  #advance(): Promise<void> {
    this.#advancing = this.#step();
    return this.#advancing;
  }

  /** Moves one read from the client to the parser. */
  async #step(): Promise<void> {
    const bytes = await this.#body.read();
    if (bytes === null) {
      this.#parser.end();
      await Promise.race([this.#finished, this.#broken]);
      this.#ended = true;
      return;
    }
    const written = new Promise<void>((resolve) => this.#parser.write(bytes, resolve));
    await Promise.race([written, this.#broken]);
  }
}
