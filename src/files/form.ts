import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { GatewayError, invalidRequest } from "../errors/gateway-error.ts";
import { drain } from "../http/drain.ts";
import { tooLarge } from "../http/json-text.ts";

/** Form fields are short; what is longer is cut off. */
const LIMITS = { fieldSize: 16 * 1024, parts: 100, headerPairs: 50, headerSize: 16 * 1024 };

/** The fields that mean something; what else a form has is not kept. */
const FIELDS: ReadonlySet<string> = new Set([
  "purpose",
  "expires_after[anchor]",
  "expires_after[seconds]",
  "expires_in_seconds",
]);

/** What an upload holds at most: the fields, a part's header, and what a few reads bring. */
export const FORM_BYTES = 256 * 1024;

/** What a form says of its file before the file's bytes. */
export interface FileHead {
  readonly filename: string;
  readonly mediaType: string;
}

/** Bounds of an upload. */
export interface FormLimits {
  /** Bytes of the whole body. */
  readonly bytes: number;
  /** How long the client may send nothing, in milliseconds. */
  readonly idleMs: number;
}

function notMultipart(): GatewayError {
  return invalidRequest("a file is uploaded as multipart/form-data with a boundary");
}

/**
 * An uploaded form, read as it streams in: at no moment more of it is held than one read brought. `head` reads up to
 * the file, `content` from there to the end of the whole form, so that fields after the file are known when it closes.
 */
export class UploadForm {
  /** The file's bytes. Errors with the `GatewayError` 400, 408 or 413 that is wrong with the form. */
  readonly content: ReadableStream<Uint8Array>;
  /** Form fields other than the file that mean something, so far. */
  readonly fields = new Map<string, string>();
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #parser: BusboyInstance;
  readonly #limits: FormLimits;
  readonly #broken: Promise<never>;
  readonly #finished: Promise<void>;
  #pieces: Uint8Array[] = [];
  #head: FileHead | null = null;
  #size = 0;
  #ended = false;
  #abandoned = false;
  /** The read that is under way. Not every runtime lets a body be read twice at once. */
  #advancing: Promise<void> = Promise.resolve();

  /**
   * @param check Called when the whole form has been read; what it throws fails the form.
   * @throws GatewayError 400 for anything but a multipart form, 413 for a declared length beyond the limit.
   */
  constructor(request: Request, limits: FormLimits, check: (form: UploadForm) => void) {
    const type = request.headers.get("content-type") ?? "";
    if (!/^\s*multipart\/form-data\s*;/i.test(type) || request.body === null) throw notMultipart();
    if (Number(request.headers.get("content-length") ?? 0) > limits.bytes) throw tooLarge(limits.bytes);
    this.#limits = limits;
    this.#parser = parserOf(type);
    this.#parser.on("field", (name, value) => {
      if (FIELDS.has(name)) this.fields.set(name, value);
    });
    this.#parser.on("file", (name, file, filename, _encoding, mediaType) => {
      // What ends a broken part ends the parser too, and is heard of there.
      file.on("error", () => undefined);
      if (name !== "file" || this.#head !== null) {
        file.resume();
        return;
      }
      this.#head = { filename: filename || "file", mediaType };
      file.on("data", (piece: Uint8Array) => this.#pieces.push(piece));
    });
    this.#broken = new Promise((_, reject) => {
      this.#parser.on("error", () => reject(invalidRequest("the multipart form is broken or cut off")));
    });
    this.#broken.catch(() => undefined);
    this.#finished = new Promise((resolve) => this.#parser.on("finish", resolve));
    this.#reader = request.body.getReader();
    this.content = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          while (this.#pieces.length === 0 && !this.#ended && !this.#abandoned) await this.#advance();
          if (this.#abandoned) throw new TypeError("the form has been given up");
          for (const piece of this.#pieces.splice(0)) controller.enqueue(piece);
          if (!this.#ended) return;
          check(this);
          controller.close();
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Reads up to the file. Throws a `GatewayError` 400 when the form has none. */
  async head(): Promise<FileHead> {
    while (this.#head === null && !this.#ended) await this.#advance();
    if (this.#head === null) throw invalidRequest("the form has no file in its field file", "file");
    return this.#head;
  }

  /** Gives the form up, and reads what the client still sends. Rejects when the client goes away. */
  async drain(): Promise<void> {
    this.#abandoned = true;
    await this.#advancing.catch(() => undefined);
    await drain(this.#reader);
  }

  /** Gives the form up without reading on. */
  async cancel(): Promise<void> {
    this.#abandoned = true;
    await this.#reader.cancel();
  }

  #advance(): Promise<void> {
    this.#advancing = this.#step();
    return this.#advancing;
  }

  /** Moves one read from the client to the parser. */
  async #step(): Promise<void> {
    const { done, value } = await this.#read();
    if (done) {
      this.#parser.end();
      await Promise.race([this.#finished, this.#broken]);
      this.#ended = true;
      return;
    }
    this.#size += value.byteLength;
    if (this.#size > this.#limits.bytes) throw tooLarge(this.#limits.bytes);
    const written = new Promise<void>((resolve) => this.#parser.write(value, () => resolve()));
    await Promise.race([written, this.#broken]);
  }

  async #read(): Promise<ReadableStreamReadResult<Uint8Array>> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const silence = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new GatewayError(408, "the client stopped sending the file", { code: "invalid_request" }));
      }, this.#limits.idleMs);
    });
    try {
      return await Promise.race([this.#reader.read(), silence]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function parserOf(contentType: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { "content-type": contentType.trim() },
      limits: LIMITS,
      // Whatever is called so is the file, also when a client forgets to name it.
      isPartAFile: (name, _type, filename) => name === "file" || filename !== undefined,
    });
  } catch {
    throw notMultipart();
  }
}
