import type { Caller } from "../../core/auth/callers.ts";
import { GatewayError } from "../../core/errors/gateway-error.ts";
import { ProviderError, providerErrorToGateway } from "../../core/errors/provider-error.ts";
import { abortOnDisconnect } from "../../core/http/client-disconnect.ts";
import type { Context } from "../../core/ports/context.ts";
import type { FileRecord } from "../../core/ports/files.ts";
import { type Page, paginateById } from "../../core/routing/paginate-by-id.ts";
import { AttemptTimeout } from "../accounts/attempt-timeout.ts";
import { withAccount } from "../accounts/with-account.ts";
import type { FileKeeping, ProviderFile } from "../providers/provider.ts";
import { getDefaultProviderApi } from "../providers/provider-registry.ts";
import { MAX_LIFETIME_SECONDS } from "./record-lifetime.ts";
import type { UploadedFile } from "./upload.ts";

/** The context and the caller of a request for files. `style` is the API style, for the queue's status and the log. */
export interface FileRequest {
  readonly context: Context;
  readonly caller: Caller;
  readonly style: string;
}

/** Creates the 404 for a file that does not exist, has expired, or belongs to another caller. */
function fileNotFoundError(id: string): GatewayError {
  return new GatewayError(404, `there is no file with id ${JSON.stringify(id)}`, {
    code: "file_not_found",
    param: "file_id",
  });
}

/**
 * Returns the provider's file operations.
 *
 * @throws GatewayError 501 if the provider does not store files.
 */
export function getFileOperations(context: Context): FileKeeping {
  const { files } = getDefaultProviderApi(context.platform);
  if (files !== undefined) return files;
  throw new GatewayError(501, "this provider keeps no files: send them within the request", {
    code: "unsupported",
  });
}

/**
 * Returns the stored record of a caller's file. Returns null for a pass-through caller's file without a record, because the
 * provider checks who owns it. The provider cannot do that for the files of a managed account.
 *
 * @throws GatewayError 404 for a deleted file, or for a managed caller's file without a record.
 */
async function readFileRecord({ context, caller }: FileRequest, id: string): Promise<FileRecord | null> {
  const record = await context.platform.files(caller.owner).get(id);
  if (record?.deleted === true || (record === null && caller.mode === "managed")) throw fileNotFoundError(id);
  return record;
}

/**
 * Reads a caller's file with its current state from the account that has it.
 *
 * @throws GatewayError 404 if the file is not the caller's, 501 if the provider does not store files, and the errors of the
 * provider.
 */
export async function readCallerFile(request: FileRequest, id: string): Promise<UploadedFile> {
  request.context.log.dialect = request.style;
  request.context.log.operation = "files";
  const record = await readFileRecord(request, id);
  const current = await readCurrentFile(request, id, record);
  const { status } = current.file;
  if (record !== null && record.status !== status) {
    await request.context.platform.files(request.caller.owner).put({ ...record, status });
  }
  return current;
}

async function readCurrentFile(
  { context, caller, style }: FileRequest,
  id: string,
  record: FileRecord | null,
): Promise<UploadedFile> {
  const files = getFileOperations(context);
  const provider = getDefaultProviderApi(context.platform);
  const { abort, stop } = abortOnDisconnect(context.request);
  const attemptTimeout = new AttemptTimeout(context.platform.variables.firstByteTimeoutMs, abort.signal);
  const { signal } = attemptTimeout;
  const owner = { ...caller, targetAccount: record?.account ?? null };
  try {
    return await withAccount(
      { context, caller: owner, model: "", dialect: style, abort },
      async (session) => {
        attemptTimeout.restart();
        const file = await session.runWithToken((account) => files.read(account, id, signal));
        if (record !== null) return { file, record };
        const { id: account } = await provider.describeAccount(session.account, signal);
        return { file, record: createUnstoredRecord(file, account) };
      },
    );
  } catch (error) {
    const isGone =
      error instanceof ProviderError
        ? error.kind === "not_found"
        : error instanceof GatewayError && error.code === "target_account_not_found";
    if (isGone) throw fileNotFoundError(id);
    throw error instanceof ProviderError ? providerErrorToGateway(error) : error;
  } finally {
    attemptTimeout.stop();
    stop();
  }
}

/** Builds a record for a pass-through caller's file that was not uploaded here, or whose record has expired. */
function createUnstoredRecord(file: ProviderFile, account: string): FileRecord {
  const { id, filename, purpose, bytes, createdAt, status } = file;
  return { id, account, filename, mediaType: "", purpose, bytes, createdAt, status, expiresAt: 0 };
}

/**
 * Lists the stored records of a caller's files, oldest first.
 *
 * @throws GatewayError 501 if the provider does not store files.
 */
export async function listCallerFiles({
  context,
  caller,
  style,
}: FileRequest): Promise<readonly FileRecord[]> {
  context.log.dialect = style;
  context.log.operation = "files";
  getFileOperations(context);
  const all = await context.platform.files(caller.owner).list();
  return all.filter(({ deleted }) => deleted !== true);
}

/**
 * Hides a file from its caller. It stays at the provider, whose protocols cannot delete files.
 *
 * @throws GatewayError as {@link readCallerFile} does.
 */
export async function deleteCallerFile(request: FileRequest, id: string): Promise<void> {
  const { context, caller, style } = request;
  context.log.dialect = style;
  context.log.operation = "files";
  getFileOperations(context);
  const record = (await readFileRecord(request, id)) ?? (await readCurrentFile(request, id, null)).record;
  const expiresAt = record.expiresAt || context.platform.now() + MAX_LIFETIME_SECONDS * 1000;
  // Keep the record: without it, a pass-through caller would still find the file at the provider.
  await context.platform.files(caller.owner).put({ ...record, expiresAt, deleted: true });
}

/**
 * Rejects a request for the content of a file, because the gateway does not store it.
 *
 * @throws GatewayError always: 404 if the file is not the caller's, 501 if the provider does not store files, otherwise
 * 400.
 */
export async function rejectContentDownload(request: FileRequest, id: string): Promise<never> {
  request.context.log.dialect = request.style;
  request.context.log.operation = "files";
  getFileOperations(request.context);
  await readFileRecord(request, id);
  throw new GatewayError(400, "files that were uploaded cannot be downloaded: their content is not kept", {
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
