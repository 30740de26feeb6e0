import { isObject } from "../../core/encoding/json.ts";
import { invalidRequest } from "../../core/errors/gateway-error.ts";
import { type BodyLimits, IncomingBody } from "./incoming-body.ts";
import type { UnreadBody } from "./unread-body.ts";
import type { FileHead, IncomingFile } from "./upload.ts";

/** The media type of a form with files. A boundary follows. */
export const MULTIPART_FORM = /^\s*multipart\/form-data\s*;/i;

const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]+)"|([^\s;"]+))/i;

/**
 * Options of `Dicer`. A part may have 50 headers. Parts are read at once, so the parser need not hold bytes back: while it does,
 * it never reports as written what ends the body.
 */
export const PART_OPTIONS = { maxHeaderPairs: 50, partHwm: Number.MAX_SAFE_INTEGER };

/** Returns the first header with a name. `Dicer` gives names in lower case, and a list of values for each. */
export function getPartHeader(headers: object, name: string): string | undefined {
  const values: unknown = isObject(headers) ? headers[name] : undefined;
  const first: unknown = Array.isArray(values) ? values[0] : undefined;
  return typeof first === "string" ? first.trim() : undefined;
}

/** The boundary that the media type of a multipart body states. */
export function findBoundary(contentType: string): string | undefined {
  const [, quoted, plain] = BOUNDARY.exec(contentType) ?? [];
  return quoted ?? plain;
}

/**
 * Maximum length of a multipart body's media type, in characters. A boundary has at most 70 (RFC 2046, section 5.1.1), and
 * the parser may compare each byte of the body with the whole boundary.
 */
export const MAX_MEDIA_TYPE_LENGTH = 200;

/** Parses the parts of a multipart body. Node's writable streams have this interface. */
export interface PartParser {
  write(bytes: Uint8Array, written: () => void): unknown;
  end(): unknown;
  on(event: "error" | "finish", listener: () => void): unknown;
}

/** Receives the results of a parser. */
export interface PartSink {
  field(name: string, value: string): void;
  /** The file starts. Its bytes follow. */
  begin(head: FileHead): void;
  piece(bytes: Uint8Array): void;
  /** The body is invalid because of `error`. */
  fail(error: unknown): void;
}

/**
 * A file in a multipart body, parsed while it streams in. It never buffers more than the bytes of one read. `head` reads up
 * to the start of the file. `content` reads from there to the end of the whole body, so fields after the file are known
 * when it closes.
 */
export class MultipartFile implements IncomingFile, UnreadBody {
  /** The file's bytes. Fails with the `GatewayError` 400, 408 or 413 of an invalid body. */
  readonly content: ReadableStream<Uint8Array>;
  /** Supported fields other than the file, as far as they have been read. */
  readonly fields = new Map<string, string>();
  readonly #body: IncomingBody;
  readonly #parser: PartParser;
  readonly #broken: Promise<never>;
  readonly #finished: Promise<void>;
  #pieces: Uint8Array[] = [];
  #head: FileHead | null = null;
  #ended = false;
  #abandoned = false;
  /** The current read. */
  #advancing: Promise<void> = Promise.resolve();

  /**
   * @param createParser Creates the parser, which reports its results to the sink.
   * @param check Called after the whole body was read. If it throws, the upload fails.
   * @throws GatewayError 400 for a boundary that is too long, 413 for a declared length above the limit.
   */
  constructor(
    request: Request,
    limits: BodyLimits,
    createParser: (sink: PartSink) => PartParser,
    check: (fields: ReadonlyMap<string, string>) => void = () => undefined,
  ) {
    if ((request.headers.get("content-type") ?? "").length > MAX_MEDIA_TYPE_LENGTH) {
      throw invalidRequest("a multipart boundary has at most 70 characters");
    }
    const failure = Promise.withResolvers<never>();
    this.#broken = failure.promise;
    this.#broken.catch(() => undefined);
    this.#parser = createParser({
      field: (name, value) => void this.fields.set(name, value),
      begin: (head) => {
        this.#head = head;
      },
      piece: (bytes) => void this.#pieces.push(bytes),
      fail: (error) => failure.reject(error),
    });
    this.#parser.on("error", () => failure.reject(invalidRequest("the multipart form is broken or cut off")));
    this.#finished = new Promise((resolve) => this.#parser.on("finish", resolve));
    this.#body = new IncomingBody(request, limits);
    this.content = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          while (this.#pieces.length === 0 && !this.#ended && !this.#abandoned) await this.#readNext();
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

  /**
   * Reads up to the start of the file.
   *
   * @throws GatewayError 400 if the body contains no file.
   */
  async head(): Promise<FileHead> {
    while (this.#head === null && !this.#ended) await this.#readNext();
    if (this.#head === null) throw invalidRequest("the form has no file in its field file", "file");
    return this.#head;
  }

  watch(onBroken: (error: unknown) => void): void {
    if (!this.#ended) this.#body.watch(onBroken);
  }

  /** Abandons the upload and reads the rest of the body. Rejects if the client disconnects. */
  async drain(): Promise<void> {
    this.#abandoned = true;
    await this.#advancing.catch(() => undefined);
    await this.#body.drain();
  }

  /** Abandons the upload without reading the rest of the body. */
  async cancel(): Promise<void> {
    this.#abandoned = true;
    await this.#body.cancel();
  }

  #readNext(): Promise<void> {
    this.#advancing = this.#readOnce();
    return this.#advancing;
  }

  /** Reads once from the client and writes the bytes to the parser. */
  async #readOnce(): Promise<void> {
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
