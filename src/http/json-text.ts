import { GatewayError, invalidRequest } from "../errors/gateway-error.ts";
import type { BodyHold } from "./body-budget.ts";
import { BodyClock } from "./body-clock.ts";
import { drain } from "./drain.ts";
import { JsonScan } from "./json-scan.ts";
import type { RequestTimers } from "./request-timers.ts";

/** Arrays and objects lie within each other at most this deep: what walks through them recursively needs a bound. */
const MAX_DEPTH = 512;

/** Bodies up to these sizes are read natively, and have their whole length reserved; a stranger may keep us waiting for it. */
const NATIVE_BYTES = 1024 * 1024;
const STRANGERS_NATIVE_BYTES = 64 * 1024;

/** Memory for each byte of a text: itself, and its values. A text with one wide character takes two bytes for each of all. */
const TEXT_COST = 2;
const WIDE_TEXT_COST = 3;

/** What a body is read with. */
export interface Intake {
  /** What the request holds of the memory for bodies; what reading takes stays held. */
  readonly hold: BodyHold;
  readonly timers: RequestTimers;
  /** Bytes that the body may have. */
  readonly limit: number;
  /** How long the client may take to send it, milliseconds; longer for a long one. */
  readonly timeoutMs: number;
}

/** The 413 of a body of more than `limit` bytes. */
export function tooLarge(limit: number): GatewayError {
  return new GatewayError(413, `the request body is larger than ${limit} bytes`, {
    code: "request_too_large",
  });
}

export function invalidJson(): GatewayError {
  return new GatewayError(400, "invalid json: the request body is not valid UTF-8 JSON", {
    code: "invalid json",
  });
}

function tooDeep(): GatewayError {
  return invalidRequest(`the request body is nested more than ${MAX_DEPTH} levels deep`);
}

/** The 400 of a body that broke off, or whose transfer coding is broken: whoever sent it has left, or cannot speak HTTP. */
export function brokenOff(cause: unknown): GatewayError {
  return new GatewayError(400, "the request body broke off before its end", {
    code: "invalid_request",
    cause,
  });
}

/** The 408 of a client that takes too long to send its body. */
export function tooSlow(): GatewayError {
  return new GatewayError(408, "the client took too long to send the request body", {
    code: "invalid_request",
  });
}

/**
 * Reads the text of a JSON body that may be parsed: it is valid UTF-8, and memory is held for what it becomes.
 *
 * @throws GatewayError 400 `invalid json` for invalid UTF-8, which comes before everything else but the 413 of a body of more
 *   than `limit` bytes; 400 for one that is nested too deeply; 408 for one that takes too long to come; 413 and 503 for want
 *   of memory.
 */
export async function readJsonText(request: Request, intake: Intake): Promise<string> {
  const { hold, limit } = intake;
  const length = request.headers.get("content-length");
  const declared = length === null ? null : Number(length);
  const native = Math.min(limit, hold.trusted ? NATIVE_BYTES : STRANGERS_NATIVE_BYTES);
  if (declared !== null && declared <= native) return readWhole(request, declared, intake);
  // Whoever asks for the stream has it made: a short body is read without it.
  const { body } = request;
  if (body === null) return "";
  if (declared !== null && declared > limit) {
    await drain(body.getReader());
    throw tooLarge(limit);
  }
  return new Pieces(body, intake).read();
}

/** Characters that are looked at together. */
const SLICE = 64 * 1024;

/**
 * Takes memory for what the text of a JSON message becomes, before it is parsed. Returns how much it took.
 *
 * @throws GatewayError 400 for one that is nested too deeply, 413 and 503 for want of memory.
 */
export function holdJsonText(text: string, hold: BodyHold): number {
  const encoder = new TextEncoder();
  const scan = new JsonScan(MAX_DEPTH);
  for (let at = 0; at < text.length; at += SLICE) scan.push(encoder.encode(text.slice(at, at + SLICE)));
  if (scan.tooDeep) throw tooDeep();
  const cost = text.length * TEXT_COST + scan.cost;
  hold.demand(cost);
  return cost;
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

function decoded(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw invalidJson();
  }
}

/** Reads a short body in one go. */
async function readWhole(request: Request, declared: number, intake: Intake): Promise<string> {
  const { hold, timers, limit, timeoutMs } = intake;
  if (!hold.take(declared)) await hold.wait(declared);
  const buffer = await new Promise<ArrayBuffer>((resolve, reject) => {
    const clock = new BodyClock(timers, timeoutMs, () => reject(tooSlow()));
    request.arrayBuffer().then(
      (read) => {
        clock.stop();
        resolve(read);
      },
      (error: unknown) => {
        clock.stop();
        reject(brokenOff(error));
      },
    );
  });
  const bytes = new Uint8Array(buffer);
  if (bytes.byteLength > limit) throw tooLarge(limit);
  const text = decoded(bytes);
  const scan = new JsonScan(MAX_DEPTH);
  scan.push(bytes);
  if (scan.tooDeep) throw tooDeep();
  const cost = bytes.byteLength * (text.length < bytes.byteLength ? WIDE_TEXT_COST : TEXT_COST);
  const more = Math.max(0, cost + scan.cost - declared);
  if (!hold.take(more)) await hold.wait(more);
  return text;
}

/** Reads a long body, or one of unknown length: memory is taken as it comes, and nothing of it is kept twice. */
class Pieces {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #intake: Intake;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  readonly #scan = new JsonScan(MAX_DEPTH);
  #pieces: string[] = [];
  #bytes = 0;
  #characters = 0;
  /** Why the body is no good. It is read on, for what is worse and for the client to see the answer. */
  #fault: GatewayError | null = null;

  constructor(body: ReadableStream<Uint8Array>, intake: Intake) {
    this.#reader = body.getReader();
    this.#intake = intake;
  }

  async read(): Promise<string> {
    const { timers, limit, timeoutMs } = this.#intake;
    const clock = new BodyClock(timers, timeoutMs, () => void this.#reader.cancel().catch(() => undefined));
    try {
      for (;;) {
        const { done, value } = await this.#reader.read().catch((error: unknown) => {
          throw clock.over ? tooSlow() : brokenOff(error);
        });
        if (clock.over) throw tooSlow();
        if (done) break;
        clock.heard(value.byteLength);
        this.#bytes += value.byteLength;
        if (this.#bytes > limit) {
          this.#refuse(tooLarge(limit));
          await drain(this.#reader);
          break;
        }
        await this.#push(value);
      }
      if (this.#fault === null) await this.#end();
      if (this.#fault !== null) throw this.#fault;
    } finally {
      clock.stop();
    }
    return this.#pieces.join("");
  }

  async #push(bytes: Uint8Array): Promise<void> {
    if (this.#fault?.code === "invalid json") return;
    let text: string;
    try {
      text = this.#decoder.decode(bytes, { stream: true });
    } catch {
      this.#refuse(invalidJson());
      return;
    }
    if (this.#fault !== null) return;
    const before = this.#scan.cost;
    this.#scan.push(bytes);
    if (this.#scan.tooDeep) this.#refuse(tooDeep());
    else if (await this.#take(bytes.byteLength * TEXT_COST + this.#scan.cost - before)) {
      this.#pieces.push(text);
      this.#characters += text.length;
    }
  }

  async #end(): Promise<void> {
    try {
      this.#pieces.push(this.#decoder.decode());
    } catch {
      this.#refuse(invalidJson());
      return;
    }
    if (this.#characters < this.#bytes) await this.#take(this.#bytes * (WIDE_TEXT_COST - TEXT_COST));
  }

  /** Takes memory; without it the body is no good. */
  async #take(bytes: number): Promise<boolean> {
    const { hold } = this.#intake;
    if (hold.take(bytes)) return true;
    try {
      await hold.wait(bytes);
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
    this.#intake.hold.release();
  }
}
