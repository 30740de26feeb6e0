import type { AttachmentSource, Conversation } from "../../../core/conversation/conversation.ts";
import { GatewayError, invalidRequest } from "../../../core/errors/gateway-error.ts";
import { ProviderError } from "../../../core/errors/provider-error.ts";
import { providerFileId } from "../requests/attachments.ts";
import type { UpstreamAccount } from "../upstream-account.ts";
import type { FilesApi, ProviderFile } from "./files-api.ts";

type FileSource = Extract<AttachmentSource, { kind: "file" }>;

/** Statuses with which backends refuse a request because of a file that it names. */
const REFUSALS: readonly number[] = [400, 403, 404, 409, 410, 422];

/** How often, and for how long, the status of a file in processing is checked, in milliseconds. */
const POLL_MS = 500;
const PROCESSING_LIMIT_MS = 30_000;

/** The maximum number of files that the backend is asked for, because callers may invent ids. */
const MAX_CHECKED_FILES = 20;

/** Waits. Rejects with the signal's reason on abort. */
type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>;

/**
 * Asks the backend for the files that a refused conversation names: backends word such rejections differently, and some
 * look like rejections of the account or the model. Waits for files that the backend still processes.
 *
 * @returns when all files are there and the request may be sent again, because the backend has processed a file in the
 *   meantime
 * @throws GatewayError 404 for a file that the backend no longer has, 400 for one that it could not process; otherwise
 *   `error`
 */
export async function recoverFromFileRejection(
  error: unknown,
  conversation: Conversation,
  files: FilesApi,
  account: UpstreamAccount,
  signal: AbortSignal,
  sleep: Sleep,
): Promise<void> {
  if (!(error instanceof ProviderError) || !REFUSALS.includes(error.status)) throw error;
  const field = conversation.contentField;
  let hasWaited = false;
  for (const source of listFiles(conversation)) {
    const read = () => readStoredFile(source, field, error, files, account, signal);
    let file = await read();
    for (let waitedMs = 0; file.status === "pending"; waitedMs += POLL_MS) {
      if (waitedMs >= PROCESSING_LIMIT_MS) {
        throw new ProviderError(
          "timeout",
          `the provider did not finish processing the file ${source.fileId}`,
        );
      }
      await sleep(POLL_MS, signal);
      hasWaited = true;
      file = await read();
    }
    if (file.status === "failed") {
      throw invalidRequest(
        `${field} refers to the file ${source.fileId}, which the provider could not process`,
        field,
      );
    }
  }
  if (!hasWaited) throw error;
}

/** Returns the first files that a conversation names, without duplicates. */
function listFiles({ messages }: Conversation): Iterable<FileSource> {
  const sources = new Map<string, FileSource>();
  for (const { parts } of messages) {
    for (const part of parts) {
      if (part.type !== "text" && part.source.kind === "file") sources.set(part.source.fileId, part.source);
    }
  }
  return [...sources.values()].slice(0, MAX_CHECKED_FILES);
}

/** Throws `rejection` if the backend does not tell the file's state. */
async function readStoredFile(
  source: FileSource,
  field: string,
  rejection: ProviderError,
  files: FilesApi,
  account: UpstreamAccount,
  signal: AbortSignal,
): Promise<ProviderFile> {
  try {
    return await files.read(account, providerFileId(source), signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ProviderError) || error.kind !== "not_found") throw rejection;
    throw new GatewayError(
      404,
      `${field} refers to the file ${JSON.stringify(source.fileId)}, which the provider does not have: it was deleted there, or it has expired`,
      { code: "file_not_found", param: field },
    );
  }
}
