import type { ByteReader } from "./byte-reader.ts";
import { ProxyFailure } from "./failure.ts";

/** Bytes of a line, and lines of a head: beyond them somebody is not speaking HTTP. */
const MAX_LINE = 32 * 1024;
const MAX_LINES = 200;
/** Interim answers that are passed over. */
const MAX_INTERIM = 10;

/** An HTTP/1.1 response up to its body. */
export interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
}

/**
 * Reads the head of a response (RFC 9112), passing over interim ones.
 *
 * @throws ProxyFailure when it is no HTTP; what `reader` throws passes through.
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

/** Whoever answered does not speak HTTP/1.1. */
export function notHttp(cause?: unknown): ProxyFailure {
  return new ProxyFailure("answer", "the answer through the proxy is not HTTP/1.1", cause);
}

/** Reads the trailer of a chunked body, which nobody needs. */
export async function skipTrailer(reader: ByteReader): Promise<void> {
  for (let lines = 0; lines < MAX_LINES; lines += 1) if ((await reader.line(MAX_LINE)) === "") return;
  throw notHttp();
}
