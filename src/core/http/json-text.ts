import { GatewayError, invalidRequest } from "../errors/gateway-error.ts";
import { BodyDeadline } from "./body-deadline.ts";
import type { BodyDecoder, ContentCoding } from "./content-coding.ts";
import { drain } from "./drain.ts";
import { JsonScan } from "./json-scan.ts";
import type { MemoryReservation } from "./memory-budget.ts";

/** Maximum nesting depth of arrays and objects, because recursive functions need a bound. */
const MAX_DEPTH = 512;

/**
 * Bodies up to these sizes are read natively, and their declared length is reserved in advance. A stranger may hold that
 * memory while sending slowly, so its limit is smaller.
 */
const NATIVE_BYTES = 1024 * 1024;
const STRANGERS_NATIVE_BYTES = 64 * 1024;

/**
 * Memory per byte of a text, for the text and its values. One wide character makes a whole text use two bytes per character.
 */
const TEXT_COST = 2;
const WIDE_TEXT_COST = 3;

/** The parameters for reading a body. */
export interface BodyReadOptions {
  /** The request's memory reservation. Memory for the body stays reserved after reading. */
  readonly memory: MemoryReservation;
  /** Maximum size of the body in bytes. */
  readonly limit: number;
  /** Time limit for the client to send the body, milliseconds; received bytes extend it. */
  readonly timeoutMs: number;
  /** The model that the path names. It takes the place of `model` in a JSON body. */
  readonly pathModel?: string | undefined;
  /** Maximum nesting depth of arrays and objects; default 512. A text that is not JSON needs no limit. */
  readonly maxDepth?: number;
}

/** The 413 of a body larger than `limit` bytes. */
export function bodyTooLarge(limit: number): GatewayError {
  return new GatewayError(413, `the request body is larger than ${limit} bytes`, {
    code: "request_too_large",
  });
}

export function invalidJson(): GatewayError {
  return new GatewayError(400, "invalid json: the request body is not valid UTF-8 JSON", {
    code: "invalid json",
  });
}

function nestedTooDeep(): GatewayError {
  return invalidRequest(`the request body is nested more than ${MAX_DEPTH} levels deep`);
}

/** The 400 of an incomplete body or an invalid transfer coding: the sender has disconnected, or violates HTTP. */
export function bodyIncomplete(cause: unknown): GatewayError {
  return new GatewayError(400, "the request body broke off before its end", {
    code: "invalid_request",
    cause,
  });
}

/** The 408 of a client that sends its body too slowly. */
export function bodyTimedOut(): GatewayError {
  return new GatewayError(408, "the client took too long to send the request body", {
    code: "invalid_request",
  });
}

/**
 * Reads the text of a JSON body: decoded, valid UTF-8, with memory reserved for its parsed form.
 *
 * @throws GatewayError 415 for an unsupported `Content-Encoding`; 400 `invalid json` for invalid UTF-8 (only the 413 of
 *   a body larger than `limit` bytes precedes it); 400 if nested too deeply; 408 if sent too slowly; 413 and 503 if the
 *   memory budget is exhausted
 */
export async function readJsonText(request: Request, options: BodyReadOptions): Promise<string> {
  const { memory, limit } = options;
  const length = request.headers.get("content-length");
  const declared = length === null ? null : Number(length);
  const coding = await readContentCoding(request);
  const nativeLimit = Math.min(limit, memory.isKnown ? NATIVE_BYTES : STRANGERS_NATIVE_BYTES);
  if (coding === null && declared !== null && declared <= nativeLimit)
    return readShortBody(request, declared, options);
  // Reading `body` creates a stream, so short bodies are read without it.
  const { body } = request;
  if (body === null) return "";
  if (declared !== null && declared > limit) {
    await drain(body.getReader());
    throw bodyTooLarge(limit);
  }
  const decoder = coding === null ? null : await (await loadCodings()).BodyDecoder.create(coding);
  return new StreamedBodyReader(body, decoder, options).read();
}

/** Few requests have an encoded body, so the decoders are not loaded at startup. */
const loadCodings = async () => await import("./content-coding.ts");

/** Reads the coding of a body. After a refusal the client must be able to read the response, so the body is read too. */
async function readContentCoding({ headers, body }: Request): Promise<ContentCoding | null> {
  if (!headers.has("content-encoding")) return null;
  try {
    return (await loadCodings()).contentCodingOf(headers);
  } catch (error) {
    if (body !== null) await drain(body.getReader());
    throw error;
  }
}

/** Characters per slice. */
const SLICE_CHARS = 64 * 1024;

/**
 * Reserves memory for the parsed form of a JSON text. Returns the reserved bytes.
 *
 * @throws GatewayError 400 if nested too deeply, 413 and 503 if the memory budget is exhausted.
 */
export function reserveForJson(text: string, memory: MemoryReservation): number {
  const encoder = new TextEncoder();
  const scan = new JsonScan(MAX_DEPTH);
  for (let at = 0; at < text.length; at += SLICE_CHARS)
    scan.push(encoder.encode(text.slice(at, at + SLICE_CHARS)));
  if (scan.tooDeep) throw nestedTooDeep();
  const cost = text.length * TEXT_COST + scan.cost;
  memory.reserveNow(cost);
  return cost;
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw invalidJson();
  }
}

/** Reads a short body at once. */
async function readShortBody(request: Request, declared: number, options: BodyReadOptions): Promise<string> {
  const { memory, limit, timeoutMs, maxDepth = MAX_DEPTH } = options;
  if (!memory.tryReserve(declared)) await memory.reserveWhenFree(declared);
  const buffer = await new Promise<ArrayBuffer>((resolve, reject) => {
    const clock = new BodyDeadline(timeoutMs, () => reject(bodyTimedOut()));
    request.arrayBuffer().then(
      (body) => {
        clock.stop();
        resolve(body);
      },
      (error: unknown) => {
        clock.stop();
        reject(bodyIncomplete(error));
      },
    );
  });
  const bytes = new Uint8Array(buffer);
  if (bytes.byteLength > limit) throw bodyTooLarge(limit);
  const text = decodeUtf8(bytes);
  const scan = new JsonScan(maxDepth);
  scan.push(bytes);
  if (scan.tooDeep) throw nestedTooDeep();
  const cost = bytes.byteLength * (text.length < bytes.byteLength ? WIDE_TEXT_COST : TEXT_COST);
  const extra = Math.max(0, cost + scan.cost - declared);
  if (!memory.tryReserve(extra)) await memory.reserveWhenFree(extra);
  return text;
}

/** Reads a long body, or one of unknown length. It reserves memory as bytes arrive, and stores nothing twice. */
class StreamedBodyReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder: BodyDecoder | null;
  readonly #options: BodyReadOptions;
  readonly #utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  readonly #scan: JsonScan;
  #pieces: string[] = [];
  /** Received bytes, before decoding. */
  #received = 0;
  /** Bytes of the decoded body. */
  #bytes = 0;
  #characters = 0;
  /**
   * Why the body is refused. Reading continues: a worse fault may follow, and the client must be able to read the response.
   */
  #fault: GatewayError | null = null;

  constructor(body: ReadableStream<Uint8Array>, decoder: BodyDecoder | null, options: BodyReadOptions) {
    this.#reader = body.getReader();
    this.#decoder = decoder;
    this.#options = options;
    this.#scan = new JsonScan(options.maxDepth ?? MAX_DEPTH);
  }

  async read(): Promise<string> {
    const { limit, timeoutMs, memory } = this.#options;
    const clock = new BodyDeadline(timeoutMs, () => void this.#reader.cancel().catch(() => undefined));
    const decoderBytes = this.#decoder?.bytes ?? 0;
    try {
      if (decoderBytes > 0 && !memory.tryReserve(decoderBytes)) await memory.reserveWhenFree(decoderBytes);
      for (;;) {
        const { done, value } = await this.#reader.read().catch((error: unknown) => {
          throw clock.isOver ? bodyTimedOut() : bodyIncomplete(error);
        });
        if (clock.isOver) throw bodyTimedOut();
        if (done) break;
        clock.addReceived(value.byteLength);
        this.#received += value.byteLength;
        if (this.#received > limit) this.#refuse(bodyTooLarge(limit));
        else if (this.#decoder === null) await this.#take(value);
        else if (this.#fault === null) await this.#takeDecoded(this.#decoder.push(value));
        if (this.#received > limit || this.#bytes > limit) {
          await drain(this.#reader);
          break;
        }
      }
      if (this.#fault === null && this.#decoder !== null) await this.#takeDecoded(this.#decoder.finish());
      if (this.#fault === null) await this.#finish();
      if (this.#fault !== null) throw this.#fault;
      memory.releaseBytes(decoderBytes);
    } finally {
      this.#decoder?.close();
      clock.stop();
    }
    return this.#pieces.join("");
  }

  /** Takes decoded bytes, until the body is refused. */
  async #takeDecoded(decoded: AsyncGenerator<Uint8Array, void>): Promise<void> {
    try {
      for await (const bytes of decoded) {
        await this.#take(bytes);
        if (this.#fault !== null) return;
      }
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.#refuse(error);
    }
  }

  async #take(bytes: Uint8Array): Promise<void> {
    const { limit } = this.#options;
    this.#bytes += bytes.byteLength;
    if (this.#bytes > limit) this.#refuse(bodyTooLarge(limit));
    else await this.#push(bytes);
  }

  async #push(bytes: Uint8Array): Promise<void> {
    if (this.#fault?.code === "invalid json") return;
    let text: string;
    try {
      text = this.#utf8.decode(bytes, { stream: true });
    } catch {
      this.#refuse(invalidJson());
      return;
    }
    if (this.#fault !== null) return;
    const costBefore = this.#scan.cost;
    this.#scan.push(bytes);
    if (this.#scan.tooDeep) this.#refuse(nestedTooDeep());
    else if (await this.#reserve(bytes.byteLength * TEXT_COST + this.#scan.cost - costBefore)) {
      this.#pieces.push(text);
      this.#characters += text.length;
    }
  }

  async #finish(): Promise<void> {
    try {
      this.#pieces.push(this.#utf8.decode());
    } catch {
      this.#refuse(invalidJson());
      return;
    }
    if (this.#characters < this.#bytes) await this.#reserve(this.#bytes * (WIDE_TEXT_COST - TEXT_COST));
  }

  /** Reserves memory; if that fails, the body is refused. */
  async #reserve(bytes: number): Promise<boolean> {
    const { memory } = this.#options;
    if (memory.tryReserve(bytes)) return true;
    try {
      await memory.reserveWhenFree(bytes);
      return true;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.#refuse(error);
      return false;
    }
  }

  #refuse(fault: GatewayError): void {
    this.#fault = fault;
    this.#pieces = [];
    this.#options.memory.release();
  }
}
