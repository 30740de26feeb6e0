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

/** For how long what has come of an upload is kept after its beginning, milliseconds. */
const LIFETIME_MS = 3_600_000;

/** Bytes of one piece as it is kept, and what it takes in memory on its way there: itself, its base64, and its JSON. */
const PIECE = 1024 * 1024;
const PIECE_COST = 5 * PIECE;

/** Of the characters that may be kept for a caller, how many bytes of a file they hold in base64. */
const BYTES_PER_CHARACTER = 0.74;

/** An upload's address holds so many bytes of its caller's name, and as many of a secret. */
const HALF = 32;

/** An upload that was begun: what its address leads to. */
export interface OpenUpload {
  readonly upload: PartialUpload;
  readonly owner: string;
  /** The credential of the caller who began it. */
  readonly credential: string;
}

/** The 404 of an upload that was never begun, is over, or has expired. */
function uploadNotFound(): GatewayError {
  return new GatewayError(404, "there is no such upload: it is over, or it has expired; begin it again", {
    code: "not_found",
    param: "upload_id",
  });
}

/**
 * Begins an upload that comes in several requests. Nothing of it is kept beyond an hour.
 *
 * @returns what names it: whoever has it can go on with the upload, and do nothing else
 * @throws GatewayError 501 where the provider keeps no files, 413 for one that says it is too large
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
 * The upload that {@link beginUpload} named so.
 *
 * @throws GatewayError 404 when there is none.
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

/** Keeps what a request brings of an upload, from the byte `offset` on. Returns how many bytes have come so far. */
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

/** Takes the last of an upload, from the byte `offset` on, and with it the file. */
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
  // The file is there: what is left of its pieces ends with their hour at the latest.
  await store.remove(upload.id).catch(() => undefined);
  return uploaded;
}

/** Forgets an upload. */
export async function cancelUpload(context: Context, { upload, owner }: OpenUpload): Promise<void> {
  await context.platform.uploads(owner).remove(upload.id);
}

/** How many bytes at the beginning of a request have come before. Throws 400 when some between are missing. */
function overlap({ received }: PartialUpload, offset: number): number {
  if (offset <= received) return received - offset;
  throw invalidRequest(`the upload goes on at the byte ${received}, not at ${offset}`, "offset");
}

/** One request that brings some of an upload, and not its end. */
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
      // What came of a request that broke off need not come again.
      await this.#flush();
      await this.#store.put(this.#upload);
    }
    return this.#upload.received;
  }

  /** What came with small requests is kept in few pieces: how many objects a caller may keep is limited. */
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
    // The caller has begun so many uploads since that this one had to make room.
    if (piece === null) throw uploadNotFound();
    const bytes = fromBase64(piece.data);
    total += bytes.length;
    yield bytes;
  }
  // A request that had stalled may end after the one that was sent in its place, and each has written its own pieces.
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
