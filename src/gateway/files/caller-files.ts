import type { Caller } from "../../core/auth/callers.ts";
import { GatewayError } from "../../core/errors/gateway-error.ts";
import { ProviderError, providerErrorToGateway } from "../../core/errors/provider-error.ts";
import { abortOnDisconnect } from "../../core/http/client-disconnect.ts";
import type { Context } from "../../core/ports/context.ts";
import type { FileRecord } from "../../core/ports/files.ts";
import { type Page, paginateById } from "../../core/routing/paginate-by-id.ts";
import type { AccountSession } from "../accounts/account-request.ts";
import { AttemptTimeout } from "../accounts/attempt-timeout.ts";
import { withAccount } from "../accounts/with-account.ts";
import type { ProviderFile } from "../providers/files/files-api.ts";
import { type FileProvider, fileNotFoundError, getFileProvider, isAccountGone } from "./file-provider.ts";
import { MAX_LIFETIME_SECONDS } from "./record-lifetime.ts";
import type { UploadedFile } from "./upload.ts";

/** The context and the caller of a request for files. `style` is the API style, for the queue's status and the log. */
export interface FileRequest {
  readonly context: Context;
  readonly caller: Caller;
  readonly style: string;
}

/** Where a file is: its provider, its id there, and the time limit of requests for it. */
interface StoredAt extends FileProvider {
  readonly fileId: string;
  readonly timeout: AttemptTimeout;
}

/**
 * Returns the stored record of a caller's file. Returns null for a pass-through caller's file without a record, because the
 * provider checks who owns it. The provider cannot do that for the files of a managed account.
 *
 * @throws GatewayError 404 for a deleted file, or for a managed caller's file without a record.
 */
async function readFileRecord({ context, caller }: FileRequest, id: string): Promise<FileRecord | null> {
  const record = await context.platform.files(caller.owner, context.startedAt).get(id);
  if (record?.deleted === true || (record === null && caller.mode === "managed")) throw fileNotFoundError(id);
  return record;
}

/**
 * Reads a caller's file with its current state from the account that has it.
 *
 * @throws GatewayError 404 if the file is not the caller's or no longer exists, and the errors of the provider.
 */
export async function readCallerFile(request: FileRequest, id: string): Promise<UploadedFile> {
  request.context.facts.dialect = request.style;
  request.context.facts.operation = "files";
  const record = await readFileRecord(request, id);
  const current = await readCurrentFile(request, id, record);
  const { status } = current.file;
  if (record !== null && record.status !== status) {
    await request.context.platform
      .files(request.caller.owner, request.context.startedAt)
      .put({ ...record, status });
  }
  return current;
}

/**
 * Runs work with the account that has a file.
 *
 * @throws GatewayError 404 if the account, its provider or the file no longer exists. The record is then hidden. Also the
 *   errors of the provider.
 */
async function withFileAccount<T>(
  { context, caller, style }: FileRequest,
  id: string,
  record: FileRecord | null,
  operation: (stored: StoredAt, session: AccountSession, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { abort, stop } = abortOnDisconnect(context);
  const owner = { ...caller, targetAccount: record?.account ?? null };
  let attemptTimeout: AttemptTimeout | undefined;
  try {
    const { provider, files } = await getFileProvider(context, record);
    if (provider.id !== "") context.facts.provider = provider.id;
    const timeout = new AttemptTimeout(provider.timeouts.firstByteTimeoutMs, abort.signal);
    attemptTimeout = timeout;
    const stored = { provider, files, fileId: record?.upstreamId ?? id, timeout };
    return await withAccount(
      { context, caller: owner, provider, model: "", dialect: style, abort, costsNothing: true },
      (session) => {
        timeout.restart();
        return operation(stored, session, timeout.signal);
      },
    );
  } catch (error) {
    const isLost = error instanceof ProviderError && error.kind === "not_found";
    if (isLost && record?.upstreamId !== undefined) {
      await context.platform.files(caller.owner, context.startedAt).put({ ...record, deleted: true });
    }
    if (isLost || isAccountGone(error)) throw fileNotFoundError(id);
    throw error instanceof ProviderError ? providerErrorToGateway(error) : error;
  } finally {
    attemptTimeout?.stop();
    stop();
  }
}

async function readCurrentFile(
  request: FileRequest,
  id: string,
  record: FileRecord | null,
): Promise<UploadedFile> {
  return withFileAccount(request, id, record, async ({ provider, files, fileId }, session, signal) => {
    const file = await session.runWithToken((account) => files.read(account, fileId, signal));
    if (record !== null) return { file: { ...file, id }, record };
    const { id: account } = await provider.api.checkAccount(session.account, signal);
    return { file, record: createUnstoredRecord(file, account) };
  });
}

/** Builds a record for a pass-through caller's file that was not uploaded here, or whose record has expired. */
function createUnstoredRecord(file: ProviderFile, account: string): FileRecord {
  const { id, filename, purpose, bytes, createdAt, status } = file;
  return { id, account, filename, mediaType: "", purpose, bytes, createdAt, status, expiresAt: 0 };
}

/** Lists the stored records of a caller's files, oldest first. */
export async function listCallerFiles({
  context,
  caller,
  style,
}: FileRequest): Promise<readonly FileRecord[]> {
  context.facts.dialect = style;
  context.facts.operation = "files";
  const all = await context.platform.files(caller.owner, context.startedAt).list();
  return all.filter(({ deleted }) => deleted !== true);
}

/**
 * Deletes a file at its provider, if the protocol can, and hides it from its caller.
 *
 * @throws GatewayError as {@link readCallerFile} does, except for a file that the provider no longer has.
 */
export async function deleteCallerFile(request: FileRequest, id: string): Promise<void> {
  const { context, caller, style } = request;
  context.facts.dialect = style;
  context.facts.operation = "files";
  const stored = await readFileRecord(request, id);
  const record = stored ?? (await readCurrentFile(request, id, null)).record;
  await deleteAtProvider(request, id, record, stored !== null);
  const expiresAt = record.expiresAt || context.platform.now() + MAX_LIFETIME_SECONDS * 1000;
  // Keep the record: without it, a pass-through caller would still find the file at the provider.
  await context.platform.files(caller.owner, context.startedAt).put({ ...record, expiresAt, deleted: true });
}

async function deleteAtProvider(
  request: FileRequest,
  id: string,
  record: FileRecord,
  mayBeLost: boolean,
): Promise<void> {
  try {
    const { files } = await getFileProvider(request.context, record);
    if (files.delete === undefined) return;
    await withFileAccount(request, id, record, ({ files: { delete: remove }, fileId }, session, signal) =>
      session.runWithToken(async (account) => remove?.(account, fileId, signal)),
    );
  } catch (error) {
    const isLost = error instanceof GatewayError && error.code === "file_not_found";
    if (!(isLost && mayBeLost)) throw error;
  }
}

/**
 * Returns a file's content as the provider sends it. The gateway stores no content.
 *
 * @throws GatewayError 404 if the file is not the caller's, 400 if the provider does not return its content, and the
 *   errors of the provider.
 */
export async function readCallerFileContent(request: FileRequest, id: string): Promise<Response> {
  request.context.facts.dialect = request.style;
  request.context.facts.operation = "files";
  const record = await readFileRecord(request, id);
  const { files } = await getFileProvider(request.context, record);
  if (files.readContent === undefined) throw notDownloadableError("their content is not kept");
  const content = await withFileAccount(
    request,
    id,
    record,
    async ({ files: { readContent }, fileId, timeout }, session, signal) => {
      const body = await session.runWithToken(async (account) => readContent?.(account, fileId, signal));
      return body === undefined ? null : limitReadTime(body, timeout);
    },
  ).catch((error: unknown) => {
    if (!(error instanceof GatewayError) || error.status !== 400) throw error;
    throw notDownloadableError(error.message);
  });
  return new Response(content, { headers: CONTENT_HEADERS });
}

/** Limits the time of each read. Time in which the client reads nothing does not count. */
function limitReadTime(
  body: ReadableStream<Uint8Array>,
  timeout: AttemptTimeout,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const { signal } = timeout;
  // Not every body reacts to the signal of its request.
  signal.addEventListener("abort", () => void reader.cancel(signal.reason).catch(() => undefined), {
    once: true,
  });
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        timeout.restart();
        try {
          const { done, value } = await reader.read();
          signal.throwIfAborted();
          if (done) controller.close();
          else controller.enqueue(value);
        } finally {
          timeout.stop();
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Browsers must not show a caller's file as a page of the gateway. */
const CONTENT_HEADERS = {
  "content-type": "application/octet-stream",
  "content-disposition": "attachment",
  "x-content-type-options": "nosniff",
};

function notDownloadableError(reason: string): GatewayError {
  return new GatewayError(400, `files that were uploaded cannot be downloaded: ${reason}`, {
    code: "unsupported",
    param: "file_id",
    details: { error_code: "file_not_downloadable" },
  });
}

/**
 * Returns the page of a list of files that starts after the file with the id `after`, or the first page without `after`.
 *
 * @throws GatewayError 404 if no file has that id.
 */
export function paginate<Item extends { readonly id: string }>(
  items: readonly Item[],
  after: string | undefined,
  limit: number,
): Page<Item> {
  return paginateById(items, after, limit, fileNotFoundError);
}
