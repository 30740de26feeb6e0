import type { Caller } from "../../core/auth/callers.ts";
import { decryptText, encryptText } from "../../core/auth/text-encryption.ts";
import { ByteCollector } from "../../core/encoding/byte-collector.ts";
import {
  concatBytes,
  fromBase64,
  fromBase64Url,
  toBase64,
  toBase64Url,
  toHex,
} from "../../core/encoding/bytes.ts";
import { sha256Hex } from "../../core/encoding/hash.ts";
import { GatewayError, invalidRequest } from "../../core/errors/gateway-error.ts";
import { bodyTooLarge } from "../../core/http/json-text.ts";
import type { Context } from "../../core/ports/context.ts";
import { createPieceId, type PartialUpload, type UploadStore } from "../../core/ports/uploads.ts";
import { HOUR_MS } from "../../core/units.ts";
import { readRequestedProvider, selectUploadProvider } from "./file-provider.ts";
import { IncomingBody } from "./incoming-body.ts";
import { RawFile } from "./raw-file.ts";
import { MAX_UPLOAD_BYTES, receiveFile, uploadLimits } from "./receive.ts";
import { discardUnreadBody } from "./unread-body.ts";
import type { FileHead, UploadedFile } from "./upload.ts";

/** Lifetime of the stored pieces after the start of the upload, in milliseconds. */
const LIFETIME_MS = HOUR_MS;

/** Size of one stored piece in bytes, and its memory cost while it is stored: the bytes, their base64, and its JSON. */
const PIECE_BYTES = 1024 * 1024;
const PIECE_MEMORY_BYTES = 5 * PIECE_BYTES;

/** File bytes per stored character: base64 needs about 4 characters for 3 bytes, and the JSON needs some more. */
const BYTES_PER_CHARACTER = 0.74;

/** Length in bytes of each half of an upload's name: the caller's owner id and a secret. */
const NAME_HALF_BYTES = 32;

/** A started upload, found by its name. */
export interface OpenUpload {
  readonly upload: PartialUpload;
  readonly owner: string;
  /** The credential of the caller that started the upload. */
  readonly credential: string;
}

/** Creates the 404 for an upload that does not exist, is finished, or has expired. */
function uploadNotFoundError(): GatewayError {
  return new GatewayError(404, "there is no such upload: it is over, or it has expired; begin it again", {
    code: "not_found",
    param: "upload_id",
  });
}

/**
 * Starts an upload of several requests. Its data is stored for at most one hour.
 *
 * @returns the upload's name. A client that has the name can continue the upload, but do nothing else.
 * @throws GatewayError 501 if the provider does not store files, 413 for a declared size above the limit
 */
export async function startUpload(
  context: Context,
  caller: Caller,
  style: string,
  head: FileHead & { readonly size: number | null },
): Promise<string> {
  context.facts.dialect = style;
  context.facts.operation = "files";
  const provider = readRequestedProvider(context.request);
  await selectUploadProvider(context, caller, provider);
  if (head.size !== null && head.size > MAX_UPLOAD_BYTES) throw bodyTooLarge(MAX_UPLOAD_BYTES);
  const secret = crypto.getRandomValues(new Uint8Array(NAME_HALF_BYTES));
  await context.platform.uploads(caller.owner, context.startedAt).put({
    ...head,
    id: await sha256Hex(secret),
    credential: await encryptText(caller.credential, secret),
    targetAccount: caller.targetAccount,
    ...(provider === undefined ? {} : { provider }),
    received: 0,
    pieces: 0,
    expiresAt: context.platform.now() + LIFETIME_MS,
  });
  const owner = Uint8Array.from(caller.owner.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return toBase64Url(concatBytes([owner, secret]));
}

/**
 * Returns the upload with a name that {@link startUpload} returned.
 *
 * @throws GatewayError 404 if there is none.
 */
export async function openUpload(context: Context, name: string): Promise<OpenUpload> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = fromBase64Url(name);
  } catch {
    throw uploadNotFoundError();
  }
  if (bytes.length !== 2 * NAME_HALF_BYTES) throw uploadNotFoundError();
  const owner = toHex(bytes.subarray(0, NAME_HALF_BYTES));
  const secret = bytes.slice(NAME_HALF_BYTES);
  const upload = await context.platform.uploads(owner, context.startedAt).get(await sha256Hex(secret));
  if (upload === null) throw uploadNotFoundError();
  return { upload, owner, credential: await decryptText(upload.credential, secret) };
}

/**
 * Stores the bytes of one request of an upload. They start at the byte `offset`. Returns the number of bytes received so
 * far.
 */
export async function storePieces(
  context: Context,
  style: string,
  { upload, owner }: OpenUpload,
  offset: number,
): Promise<number> {
  context.facts.dialect = style;
  context.facts.operation = "files";
  const store = context.platform.uploads(owner, context.startedAt);
  return new PieceWriter(context, store, upload, offset).run();
}

/** Receives the last bytes of an upload, starting at the byte `offset`, and sends the whole file to the provider. */
export async function finishUpload(
  context: Context,
  caller: Caller,
  style: string,
  { upload, owner }: OpenUpload,
  offset: number,
): Promise<UploadedFile> {
  const store = context.platform.uploads(owner, context.startedAt);
  const pinnedCaller = { ...caller, targetAccount: upload.targetAccount };
  if (upload.pieces > 0 && !context.memory.tryReserve(PIECE_MEMORY_BYTES))
    await context.memory.reserveWhenFree(PIECE_MEMORY_BYTES);
  const openBody = (request: Request) => {
    const body = new IncomingBody(request, uploadLimits(context));
    return new RawFile(body, upload, readUploadBytes(body, store, upload, countOverlap(upload, offset)));
  };
  const uploaded = await receiveFile(context, pinnedCaller, style, openBody, upload.provider);
  // Ignore errors: the file is complete, and the remaining pieces expire within an hour.
  await store.remove(upload.id).catch(() => undefined);
  return uploaded;
}

/** Deletes an upload and its pieces. */
export async function cancelUpload(context: Context, { upload, owner }: OpenUpload): Promise<void> {
  await context.platform.uploads(owner, context.startedAt).remove(upload.id);
}

/**
 * Returns how many bytes at the start of a request were already received.
 *
 * @throws GatewayError 400 if bytes are missing in between.
 */
function countOverlap({ received }: PartialUpload, offset: number): number {
  if (offset <= received) return received - offset;
  throw invalidRequest(`the upload goes on at the byte ${received}, not at ${offset}`, "offset");
}

/** Stores the bytes of one request of an upload, except the last request. */
class PieceWriter {
  readonly #context: Context;
  readonly #store: UploadStore;
  readonly #maxBytes: number;
  #upload: PartialUpload;
  #skip: number;
  readonly #buffered = new ByteCollector();

  constructor(context: Context, store: UploadStore, upload: PartialUpload, offset: number) {
    this.#context = context;
    this.#store = store;
    this.#upload = upload;
    this.#skip = countOverlap(upload, offset);
    this.#maxBytes = Math.floor(
      context.platform.variables.storedObjectLimits.characters * BYTES_PER_CHARACTER,
    );
  }

  async run(): Promise<number> {
    const { memory: reservation, request } = this.#context;
    const body = new IncomingBody(request, uploadLimits(this.#context));
    try {
      if (!reservation.tryReserve(PIECE_MEMORY_BYTES)) await reservation.reserveWhenFree(PIECE_MEMORY_BYTES);
      await this.#loadPartialPiece();
      for (let bytes = await body.read(); bytes !== null; bytes = await body.read()) await this.#push(bytes);
    } catch (error) {
      await discardUnreadBody(body, error);
      throw error;
    } finally {
      // Store what was received even if the request broke off, so that the client need not send it again.
      await this.#flush();
      await this.#store.put(this.#upload);
    }
    return this.#upload.received;
  }

  /**
   * Loads the last piece if it is not full, so that small requests share a piece. The number of stored objects per caller
   * is limited.
   */
  async #loadPartialPiece(): Promise<void> {
    const { id, pieces, received } = this.#upload;
    if (pieces === 0) return;
    const last = await this.#store.getPiece(createPieceId(id, pieces - 1));
    const bytes = last === null ? null : fromBase64(last.data);
    if (bytes === null || bytes.length >= PIECE_BYTES) return;
    this.#buffered.push(bytes);
    this.#upload = { ...this.#upload, pieces: pieces - 1, received: received - bytes.length };
  }

  async #push(bytes: Uint8Array): Promise<void> {
    const skipped = Math.min(this.#skip, bytes.length);
    this.#skip -= skipped;
    for (let at = skipped; at < bytes.length; ) {
      const chunk = bytes.subarray(at, at + PIECE_BYTES - this.#buffered.length);
      if (this.#upload.received + this.#buffered.length + chunk.length > this.#maxBytes)
        throw this.#tooLargeError();
      this.#buffered.push(chunk);
      at += chunk.length;
      if (this.#buffered.length === PIECE_BYTES) await this.#flush();
    }
  }

  async #flush(): Promise<void> {
    if (this.#buffered.length === 0) return;
    const { id, pieces, received, expiresAt } = this.#upload;
    const bytes = concatBytes(this.#buffered.take());
    await this.#store.putPiece({ id: createPieceId(id, pieces), data: toBase64(bytes), expiresAt });
    this.#upload = { ...this.#upload, pieces: pieces + 1, received: received + bytes.length };
  }

  #tooLargeError(): GatewayError {
    return new GatewayError(
      413,
      `of an upload in several requests at most ${this.#maxBytes} bytes are kept: send the file in one`,
      { code: "request_too_large" },
    );
  }
}

async function* readUploadBytes(
  body: IncomingBody,
  store: UploadStore,
  { id, pieces, received, size }: PartialUpload,
  overlapping: number,
): AsyncGenerator<Uint8Array, undefined> {
  let total = 0;
  for (let index = 0; index < pieces; index += 1) {
    const piece = await store.getPiece(createPieceId(id, index));
    // The piece was evicted, because the caller has started too many uploads since.
    if (piece === null) throw uploadNotFoundError();
    const bytes = fromBase64(piece.data);
    total += bytes.length;
    yield bytes;
  }
  // A stalled request may end after the request that the client sent instead. Then both have written pieces.
  if (total !== received) {
    throw invalidRequest("several requests brought the same bytes at once: begin the upload again");
  }
  let skip = overlapping;
  for (let bytes = await body.read(); bytes !== null; bytes = await body.read()) {
    const newBytes = bytes.subarray(skip);
    skip -= bytes.length - newBytes.length;
    total += newBytes.length;
    if (total > MAX_UPLOAD_BYTES) throw bodyTooLarge(MAX_UPLOAD_BYTES);
    if (newBytes.length > 0) yield newBytes;
  }
  if (size !== null && size !== total) {
    throw invalidRequest(`the file has ${total} bytes, although ${size} were announced`);
  }
}
