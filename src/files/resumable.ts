import type { Caller } from "../auth/callers.ts";
import { seal, unseal } from "../auth/sealed.ts";
import { concatBytes, fromBase64, fromBase64Url, toBase64, toBase64Url, toHex } from "../encoding/bytes.ts";
import { sha256Hex } from "../encoding/hash.ts";
import { GatewayError, invalidRequest } from "../errors/gateway-error.ts";
import { tooLarge } from "../http/json-text.ts";
import type { Context } from "../platform/context.ts";
import { type PartialUpload, pieceId, type UploadStore } from "../platform/uploads.ts";
import { BareFile } from "./bare.ts";
import { filesOf } from "./callers-files.ts";
import { IncomingBody } from "./incoming-body.ts";
import { MAX_UPLOAD_BYTES, receiveFile, uploadLimits } from "./receive.ts";
import { forgetRest } from "./refused-body.ts";
import type { FileHead, Uploaded } from "./upload.ts";

/** Lifetime of the stored pieces after the start of the upload, in milliseconds. */
const LIFETIME_MS = 3_600_000;

/** Size of one stored piece in bytes, and its memory cost while it is stored: the bytes, their base64, and its JSON. */
const PIECE = 1024 * 1024;
const PIECE_COST = 5 * PIECE;

/** File bytes per stored character: base64 needs about 4 characters for 3 bytes, and the JSON needs some more. */
const BYTES_PER_CHARACTER = 0.74;

/** Length in bytes of each half of an upload's name: the caller's owner id and a secret. */
const HALF = 32;

/** A started upload, found by its name. */
export interface OpenUpload {
  readonly upload: PartialUpload;
  readonly owner: string;
  /** The credential of the caller that started the upload. */
  readonly credential: string;
}

/** Creates the 404 for an upload that does not exist, is finished, or has expired. */
function uploadNotFound(): GatewayError {
  return new GatewayError(404, "there is no such upload: it is over, or it has expired; begin it again", {
    code: "not_found",
    param: "upload_id",
  });
}

/**
 * Starts an upload of several requests. Its data is stored for at most one hour.
 *
 * @returns the upload's name. Every client that has the name can continue the upload, but do nothing else.
 * @throws GatewayError 501 if the provider does not store files, 413 for a declared size above the limit
 */
export async function beginUpload(
  context: Context,
  caller: Caller,
  style: string,
  head: FileHead & { readonly size: number | null },
): Promise<string> {
  context.log.dialect = style;
  context.log.operation = "files";
  filesOf(context);
  if (head.size !== null && head.size > MAX_UPLOAD_BYTES) throw tooLarge(MAX_UPLOAD_BYTES);
  const secret = crypto.getRandomValues(new Uint8Array(HALF));
  await context.platform.uploads(caller.owner).put({
    ...head,
    id: await sha256Hex(secret),
    credential: await seal(caller.credential, secret),
    targetAccount: caller.targetAccount,
    received: 0,
    pieces: 0,
    expiresAt: context.platform.now() + LIFETIME_MS,
  });
  const owner = Uint8Array.from(caller.owner.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return toBase64Url(concatBytes([owner, secret]));
}

/**
 * Returns the upload with a name that {@link beginUpload} returned.
 *
 * @throws GatewayError 404 if there is none.
 */
export async function openUpload(context: Context, name: string): Promise<OpenUpload> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = fromBase64Url(name);
  } catch {
    throw uploadNotFound();
  }
  if (bytes.length !== 2 * HALF) throw uploadNotFound();
  const owner = toHex(bytes.subarray(0, HALF));
  const secret = bytes.slice(HALF);
  const upload = await context.platform.uploads(owner).get(await sha256Hex(secret));
  if (upload === null) throw uploadNotFound();
  return { upload, owner, credential: await unseal(upload.credential, secret) };
}

/**
 * Stores the bytes of one request of an upload. They start at the byte `offset`. Returns the number of bytes received so
 * far.
 */
export async function keepPieces(
  context: Context,
  style: string,
  { upload, owner }: OpenUpload,
  offset: number,
): Promise<number> {
  context.log.dialect = style;
  context.log.operation = "files";
  const store = context.platform.uploads(owner);
  return new Intake(context, store, upload, offset).run();
}

/** Receives the last bytes of an upload, starting at the byte `offset`, and sends the whole file to the provider. */
export async function finishUpload(
  context: Context,
  caller: Caller,
  style: string,
  { upload, owner }: OpenUpload,
  offset: number,
): Promise<Uploaded> {
  const store = context.platform.uploads(owner);
  const asked = { ...caller, targetAccount: upload.targetAccount };
  if (upload.pieces > 0 && !context.hold.take(PIECE_COST)) await context.hold.wait(PIECE_COST);
  const uploaded = await receiveFile(context, asked, style, (request) => {
    const body = new IncomingBody(request, uploadLimits(context));
    return new BareFile(body, upload, bytesOf(body, store, upload, overlap(upload, offset)));
  });
  // Ignore errors: the file is complete, and the remaining pieces expire within an hour.
  await store.remove(upload.id).catch(() => undefined);
  return uploaded;
}

/** Deletes an upload and its pieces. */
export async function cancelUpload(context: Context, { upload, owner }: OpenUpload): Promise<void> {
  await context.platform.uploads(owner).remove(upload.id);
}

/**
 * Returns how many bytes at the start of a request were already received.
 *
 * @throws GatewayError 400 if bytes are missing in between.
 */
function overlap({ received }: PartialUpload, offset: number): number {
  if (offset <= received) return received - offset;
  throw invalidRequest(`the upload goes on at the byte ${received}, not at ${offset}`, "offset");
}

/** Stores the bytes of one request of an upload, except the last request. */
class Intake {
  readonly #context: Context;
  readonly #store: UploadStore;
  readonly #most: number;
  #upload: PartialUpload;
  #skip: number;
  #held: Uint8Array[] = [];
  #size = 0;

  constructor(context: Context, store: UploadStore, upload: PartialUpload, offset: number) {
    this.#context = context;
    this.#store = store;
    this.#upload = upload;
    this.#skip = overlap(upload, offset);
    this.#most = Math.floor(context.platform.variables.kept.characters * BYTES_PER_CHARACTER);
  }

  async run(): Promise<number> {
    const { hold, request } = this.#context;
    const body = new IncomingBody(request, uploadLimits(this.#context));
    try {
      if (!hold.take(PIECE_COST)) await hold.wait(PIECE_COST);
      await this.#takeUpShortPiece();
      for (let bytes = await body.read(); bytes !== null; bytes = await body.read()) await this.#push(bytes);
    } catch (error) {
      await forgetRest(body, error);
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
  async #takeUpShortPiece(): Promise<void> {
    const { id, pieces, received } = this.#upload;
    if (pieces === 0) return;
    const last = await this.#store.getPiece(pieceId(id, pieces - 1));
    const bytes = last === null ? null : fromBase64(last.data);
    if (bytes === null || bytes.length >= PIECE) return;
    this.#held = [bytes];
    this.#size = bytes.length;
    this.#upload = { ...this.#upload, pieces: pieces - 1, received: received - bytes.length };
  }

  async #push(bytes: Uint8Array): Promise<void> {
    const skipped = Math.min(this.#skip, bytes.length);
    this.#skip -= skipped;
    for (let at = skipped; at < bytes.length; ) {
      const taken = bytes.subarray(at, at + PIECE - this.#size);
      if (this.#upload.received + this.#size + taken.length > this.#most) throw this.#tooMuch();
      this.#held.push(taken);
      this.#size += taken.length;
      at += taken.length;
      if (this.#size === PIECE) await this.#flush();
    }
  }

  async #flush(): Promise<void> {
    if (this.#size === 0) return;
    const { id, pieces, received, expiresAt } = this.#upload;
    const bytes = concatBytes(this.#held);
    this.#held = [];
    this.#size = 0;
    await this.#store.putPiece({ id: pieceId(id, pieces), data: toBase64(bytes), expiresAt });
    this.#upload = { ...this.#upload, pieces: pieces + 1, received: received + bytes.length };
  }

  #tooMuch(): GatewayError {
    return new GatewayError(
      413,
      `of an upload in several requests at most ${this.#most} bytes are kept: send the file in one`,
      { code: "request_too_large" },
    );
  }
}

async function* bytesOf(
  body: IncomingBody,
  store: UploadStore,
  { id, pieces, received, size }: PartialUpload,
  overlapping: number,
): AsyncGenerator<Uint8Array, undefined> {
  let total = 0;
  for (let index = 0; index < pieces; index += 1) {
    const piece = await store.getPiece(pieceId(id, index));
    // The piece was evicted, because the caller has started too many uploads since.
    if (piece === null) throw uploadNotFound();
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
    const fresh = bytes.subarray(skip);
    skip -= bytes.length - fresh.length;
    total += fresh.length;
    if (total > MAX_UPLOAD_BYTES) throw tooLarge(MAX_UPLOAD_BYTES);
    if (fresh.length > 0) yield fresh;
  }
  if (size !== null && size !== total) {
    throw invalidRequest(`the file has ${total} bytes, although ${size} were announced`);
  }
}
