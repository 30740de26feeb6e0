import type { ByteReader } from "./byte-reader.ts";
import { ProxyFailure } from "./failure.ts";

/** The maximum bytes of a line and lines of a head. A peer that exceeds them does not speak HTTP. */
const MAX_LINE = 32 * 1024;
const MAX_LINES = 200;
/** The maximum number of interim (1xx) responses to skip. */
const MAX_INTERIM = 10;

/** An HTTP/1.1 response without its body. */
export interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
}

/**
 * Reads the head of a response (RFC 9112) and skips interim responses.
 *
 * @throws ProxyFailure if the input is not HTTP. Errors of `reader` pass through.
 */
export async function readHead(reader: ByteReader): Promise<ResponseHead> {
  for (let interim = 0; interim <= MAX_INTERIM; interim += 1) {
    const head = await readOne(reader);
    if (head.status >= 200) return head;
  }
  throw notHttp();
}

async function readOne(reader: ByteReader): Promise<ResponseHead> {
  const start = /^HTTP\/1\.[01] (\d{3})(?: (.*))?$/.exec(await reader.line(MAX_LINE));
  if (start === null) throw notHttp();
  const headers = new Headers();
  for (let lines = 0; lines < MAX_LINES; lines += 1) {
    const line = await reader.line(MAX_LINE);
    if (line === "") return { status: Number(start[1]), statusText: start[2] ?? "", headers };
    const colon = line.indexOf(":");
    try {
      headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
    } catch (error) {
      throw notHttp(error);
    }
  }
  throw notHttp();
}

/** Creates the error for a peer that does not speak HTTP/1.1. */
export function notHttp(cause?: unknown): ProxyFailure {
  return new ProxyFailure("answer", "the answer through the proxy is not HTTP/1.1", cause);
}

/** Skips the trailer of a chunked body. */
export async function skipTrailer(reader: ByteReader): Promise<void> {
  for (let lines = 0; lines < MAX_LINES; lines += 1) if ((await reader.line(MAX_LINE)) === "") return;
  throw notHttp();
}
