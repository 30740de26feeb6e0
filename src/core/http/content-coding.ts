import type { Transform } from "node:stream";
import { GatewayError } from "../errors/gateway-error.ts";

/** A supported value of `Content-Encoding`. */
export type ContentCoding = "gzip" | "deflate" | "zstd";

/** The largest window of zstd that decoders must support (RFC 9659), as a power of two. A decoder allocates it. */
const ZSTD_WINDOW_LOG = 23;

/** Memory that a decoder takes, bytes. */
const DECODER_BYTES: Readonly<Record<ContentCoding, number>> = {
  gzip: 128 * 1024,
  deflate: 128 * 1024,
  zstd: 2 ** ZSTD_WINDOW_LOG + 512 * 1024,
};

/**
 * Reads the coding of a request's body. Null: it has none.
 *
 * @throws GatewayError 415 for a coding that is not supported, or several
 */
export function contentCodingOf(headers: Headers): ContentCoding | null {
  const stated = (headers.get("content-encoding") ?? "").trim().toLowerCase();
  switch (stated) {
    case "":
    case "identity":
      return null;
    case "gzip":
    case "x-gzip":
      return "gzip";
    case "deflate":
    case "zstd":
      return stated;
  }
  throw new GatewayError(415, "the content encoding of the request body is not gzip, deflate or zstd", {
    code: "invalid_request",
    headers: { "accept-encoding": "gzip, deflate, zstd" },
  });
}

/**
 * Decodes a body piece by piece. `node:zlib` waits until its output is read, so a small piece that stands for much takes
 * little memory. `DecompressionStream` does not: on Deno it decodes a whole piece at once. It also has no zstd.
 */
export class BodyDecoder {
  readonly #coding: ContentCoding;
  readonly #stream: Transform;
  #failure: Error | null = null;
  /** Continues the reading of the output. */
  #wake: () => void = () => undefined;

  private constructor(coding: ContentCoding, stream: Transform) {
    this.#coding = coding;
    this.#stream = stream;
    stream.on("readable", () => this.#wake());
    stream.on("end", () => this.#wake());
    stream.on("error", (error: Error) => {
      this.#failure = error;
      this.#wake();
    });
  }

  static async create(coding: ContentCoding): Promise<BodyDecoder> {
    const { constants, createGunzip, createInflate, createZstdDecompress } = await import("node:zlib");
    switch (coding) {
      case "gzip":
        return new BodyDecoder(coding, createGunzip());
      case "deflate":
        return new BodyDecoder(coding, createInflate());
      case "zstd": {
        const params = { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG };
        return new BodyDecoder(coding, createZstdDecompress({ params }));
      }
    }
  }

  /** Memory that this decoder takes, bytes. */
  get bytes(): number {
    return DECODER_BYTES[this.#coding];
  }

  /** Decodes the next piece. Throws a `GatewayError` 400 if the body is damaged. */
  push(piece: Uint8Array): AsyncGenerator<Uint8Array, void> {
    return this.#read((done) => this.#stream.write(piece, done));
  }

  /** Returns the rest. Throws a `GatewayError` 400 if the body is cut off. */
  finish(): AsyncGenerator<Uint8Array, void> {
    return this.#read((done) => this.#stream.once("end", () => done()).end());
  }

  /** Frees the decoder's memory. */
  close(): void {
    this.#stream.destroy();
  }

  async *#read(start: (done: (error?: Error | null) => void) => void): AsyncGenerator<Uint8Array, void> {
    let isDone = false;
    start((error) => {
      this.#failure ??= error ?? null;
      isDone = true;
      this.#wake();
    });
    for (;;) {
      const output: unknown = this.#stream.read();
      if (this.#failure !== null) throw this.#invalid(this.#failure);
      if (output instanceof Uint8Array) yield output;
      else if (isDone) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  #invalid(cause: Error): GatewayError {
    return new GatewayError(400, `the request body is not valid ${this.#coding} data`, {
      code: "invalid_request",
      cause,
    });
  }
}
