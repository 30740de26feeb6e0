import type { ZodType } from "zod";
import { concatBytes } from "../encoding/bytes.ts";
import { GatewayError, invalidRequest } from "../errors/gateway-error.ts";
import { isDeeperThan } from "./json-depth.ts";

/** A JSON request body is at most this many bytes: enough for a long conversation with inline images. */
export const MAX_JSON_BYTES = 32 * 1024 * 1024;

/** Arrays and objects lie within each other at most this deep: what walks through them recursively needs a bound. */
const MAX_DEPTH = 512;

/** The 413 of a body of more than `limit` bytes. */
export function tooLarge(limit: number): GatewayError {
  return new GatewayError(413, `the request body is larger than ${limit} bytes`, {
    code: "request_too_large",
  });
}

/** A refused body is still read to its end, up to this many bytes: a client that is cut off never sees the answer. */
const MAX_DRAINED_BYTES = 256 * 1024 * 1024;

/** Reads what is left of a body that is of no use any more. Rejects when the client goes away. */
export async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  for (let size = 0; size < MAX_DRAINED_BYTES; ) {
    const { done, value } = await reader.read();
    if (done) return;
    size += value.byteLength;
  }
  await reader.cancel();
}

/** Reads a body up to `limit` bytes, counting what arrives rather than trusting `Content-Length`. Throws 413. */
async function readBytes(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  if (request.body === null) return new Uint8Array();
  if (Number(request.headers.get("content-length") ?? 0) > limit) {
    await drain(request.body.getReader());
    throw tooLarge(limit);
  }
  if (request.headers.has("content-length")) {
    const bytes = new Uint8Array(await request.arrayBuffer());
    if (bytes.byteLength > limit) throw tooLarge(limit);
    return bytes;
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > limit) {
      await drain(reader);
      throw tooLarge(limit);
    }
    chunks.push(value);
  }
  return concatBytes(chunks);
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/** Strict UTF-8 JSON, as {@link readJson} says. */
function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  let value: unknown;
  try {
    text = strictUtf8.decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw new GatewayError(400, "invalid json: the request body is not valid UTF-8 JSON", {
      code: "invalid json",
    });
  }
  if (isDeeperThan(text, MAX_DEPTH)) {
    throw invalidRequest(`the request body is nested more than ${MAX_DEPTH} levels deep`);
  }
  return value;
}

/**
 * Strict UTF-8 JSON (contract, general rule 2). Throws 400 `invalid json`, 400 `invalid_request` for one that is nested
 * too deeply, 413 above `limit` bytes.
 */
export async function readJson(request: Request, limit = MAX_JSON_BYTES): Promise<unknown> {
  return parseJson(await readBytes(request, limit));
}

/** `a.b[0].c` for a zod issue path. */
function fieldName(path: readonly PropertyKey[]): string {
  let name = "";
  for (const key of path) {
    if (typeof key === "number") name += `[${key}]`;
    else name += name === "" ? String(key) : `.${String(key)}`;
  }
  return name;
}

/** Checks a value against its schema; the first violation becomes a 400 that names the field. */
export function parseWith<T>(schema: ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const param = issue === undefined ? "" : fieldName(issue.path);
  const message = issue?.message ?? "the request is not valid";
  throw new GatewayError(400, param === "" ? message : `${param}: ${message}`, {
    code: "invalid_request",
    param: param === "" ? null : param,
  });
}

/** Reads and checks a JSON body in one step. */
export async function readBody<T>(request: Request, schema: ZodType<T>): Promise<T> {
  return parseWith(schema, await readJson(request));
}

/** The same for a body all of whose fields may be left out: no body at all is an empty object. */
export async function readOptionalBody<T>(request: Request, schema: ZodType<T>): Promise<T> {
  const bytes = await readBytes(request, MAX_JSON_BYTES);
  return parseWith(schema, bytes.length === 0 ? {} : parseJson(bytes));
}
