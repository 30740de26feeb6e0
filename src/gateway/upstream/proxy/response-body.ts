import { type ByteReader, UnexpectedEnd } from "./byte-reader.ts";
import { notHttp, type ResponseHead, skipTrailer } from "./response-head.ts";

/** The maximum number of bytes of one read. */
const MAX_READ = 64 * 1024;

/** Reads the next bytes of a body. Null at its end. */
export type BodyReader = () => Promise<Uint8Array<ArrayBuffer> | null>;

/** Creates a reader for a response's body (RFC 9112, section 6.3). Null: the response has no body. */
export function bodyReader(
  reader: ByteReader,
  { status, headers }: ResponseHead,
  method: string,
): BodyReader | null {
  if (method === "HEAD" || [204, 205, 304].includes(status)) return null;
  const coding = headers.get("transfer-encoding");
  if (coding !== null) {
    if (coding.trim().toLowerCase() !== "chunked") throw notHttp();
    return readChunked(reader);
  }
  const length = headers.get("content-length");
  if (length === null) return () => reader.some(MAX_READ);
  if (!/^\d+$/.test(length)) throw notHttp();
  return readSized(reader, Number(length));
}

function readSized(reader: ByteReader, length: number): BodyReader {
  let remaining = length;
  return async () => {
    if (remaining === 0) return null;
    const bytes = await reader.some(Math.min(remaining, MAX_READ));
    if (bytes === null) throw new UnexpectedEnd("the answer is shorter than announced");
    remaining -= bytes.length;
    return bytes;
  };
}

function readChunked(reader: ByteReader): BodyReader {
  let remaining = 0;
  let first = true;
  let hasEnded = false;
  return async () => {
    if (hasEnded) return null;
    if (remaining === 0) {
      if (!first && (await reader.line(2)) !== "") throw notHttp();
      first = false;
      const size = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?$/i.exec(await reader.line(4096))?.[1];
      if (size === undefined) throw notHttp();
      remaining = Number.parseInt(size, 16);
      if (remaining === 0) {
        hasEnded = true;
        await skipTrailer(reader);
        return null;
      }
    }
    const bytes = await reader.some(Math.min(remaining, MAX_READ));
    if (bytes === null) throw new UnexpectedEnd("the answer broke off within a chunk");
    remaining -= bytes.length;
    return bytes;
  };
}
