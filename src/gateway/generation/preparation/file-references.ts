import type { Caller } from "../../../core/auth/callers.ts";
import { indexAccountsByName } from "../../../core/config/account-identifier.ts";
import { toProviderId } from "../../../core/config/provider-id.ts";
import type { AttachmentSource, Conversation, StoredFile } from "../../../core/conversation/conversation.ts";
import type { ResolvedModel } from "../../../core/conversation/model.ts";
import { GatewayError, invalidRequest } from "../../../core/errors/gateway-error.ts";
import type { Context } from "../../../core/ports/context.ts";
import type { FileRecord } from "../../../core/ports/files.ts";
import { type ConfiguredAccount, findConfiguredAccount } from "../../../pool/configuration.ts";

/** The maximum number of files of one conversation. Each is looked up. */
const MAX_FILES = 1_000;

/** The ids of all provider files that a conversation refers to, without duplicates. */
function collectFileIds(conversation: Conversation): string[] {
  const ids = new Set<string>();
  for (const { parts } of conversation.messages) {
    for (const part of parts) {
      if (part.type !== "text" && part.source.kind === "file") ids.add(part.source.fileId);
    }
  }
  return [...ids];
}

/** The 404 error for a file that the caller does not own. */
function fileNotFoundError(id: string, field: string): GatewayError {
  return new GatewayError(
    404,
    `${field} refers to the file ${JSON.stringify(id)}, which does not exist: it may have been deleted, or have expired`,
    {
      code: "file_not_found",
      param: field,
    },
  );
}

/** The models of the account's provider. */
export function selectModelsOf(
  account: Pick<ConfiguredAccount, "provider">,
  models: PinnedCaller["models"],
): PinnedCaller["models"] {
  const provider = toProviderId(account.provider);
  return models.filter((model) => toProviderId(model.provider) === provider);
}

/** A caller, pinned to the account that holds its files. */
export interface PinnedCaller {
  readonly caller: Caller;
  /** The conversation with the provider's references of the files. */
  readonly conversation: Conversation;
  /** Those of the given models whose provider has the files. */
  readonly models: readonly ResolvedModel[];
  /** Whether one of the files is an image. */
  readonly hasImages: boolean;
}

/**
 * Pins the caller to the account that holds the files which the conversation refers to: no other account can read them.
 * Leaves only models of the account's provider. Also keeps callers from using each other's files. The provider cannot
 * check that, because it knows only accounts. A pass-through caller's files need no record: the provider knows their owner.
 *
 * @param models the models that may answer, in order
 * @throws GatewayError 404 `file_not_found` for a file that this caller does not own; 400 for files of different accounts,
 *   of another account than the one that the request is pinned to, or of a provider that has none of the models
 */
export async function pinToFileAccount(
  context: Context,
  caller: Caller,
  conversation: Conversation,
  models: readonly ResolvedModel[],
): Promise<PinnedCaller> {
  const ids = collectFileIds(conversation);
  if (ids.length === 0) return { caller, conversation, models, hasImages: false };
  const field = conversation.contentField;
  if (ids.length > MAX_FILES) {
    throw invalidRequest(`${field} refers to ${ids.length} files, but may refer to ${MAX_FILES}`, field);
  }
  const store = context.platform.files(caller.owner, context.startedAt);
  const isOwnToken = caller.mode === "own-token";
  const records = await Promise.all(
    ids.map(async (id) => {
      const file = await store.get(id);
      if (file?.deleted === true || (file === null && !isOwnToken)) throw fileNotFoundError(id, field);
      return file;
    }),
  );
  const files = records.filter((file) => file !== null);
  const resolved = withStoredFiles(conversation, files);
  if (isOwnToken) return { caller, conversation: resolved, models, hasImages: false };
  const id = getCommonAccount(files, field);
  const { config } = await context.config();
  const account = await findConfiguredAccount(config, id);
  const { targetAccount } = caller;
  const known = indexAccountsByName([{ email: "", mobile: "", ...account, id }]);
  if (targetAccount !== null && !known.has(targetAccount.toLowerCase())) {
    throw invalidRequest(
      `${field} refers to files of the account ${id}, but the request asks for ${targetAccount}`,
      field,
    );
  }
  const [first = ""] = ids;
  if (account === null) throw fileNotFoundError(first, field);
  const usable = selectModelsOf(account, models);
  if (usable.length === 0) {
    const provider = toProviderId(account.provider);
    const requested = JSON.stringify(conversation.model.requested);
    throw invalidRequest(
      `${field} refers to the file ${JSON.stringify(first)} of the provider ${JSON.stringify(provider)}, which does not have the model ${requested}: send the file within the request`,
      field,
    );
  }
  const images = files.some(({ mediaType }) => mediaType.startsWith("image/"));
  const pinned = { ...caller, targetAccount: id };
  return { caller: pinned, conversation: resolved, models: usable, hasImages: images };
}

/** Adds the provider's references of files that have another id there. */
function withStoredFiles(conversation: Conversation, files: readonly FileRecord[]): Conversation {
  const stored = new Map(files.flatMap(toStoredFile));
  if (stored.size === 0) return conversation;
  const resolve = (source: AttachmentSource): AttachmentSource => {
    const file = source.kind === "file" ? stored.get(source.fileId) : undefined;
    return source.kind === "file" && file !== undefined ? { ...source, stored: file } : source;
  };
  const messages = conversation.messages.map((message) => ({
    ...message,
    parts: message.parts.map((part) =>
      part.type === "text" ? part : { ...part, source: resolve(part.source) },
    ),
  }));
  return { ...conversation, messages };
}

function toStoredFile({ id, upstreamId, uri, filename, mediaType }: FileRecord): [string, StoredFile][] {
  if (upstreamId === undefined) return [];
  return [[id, { id: upstreamId, filename, mediaType, ...(uri === undefined ? {} : { uri }) }]];
}

function getCommonAccount(files: readonly FileRecord[], field: string): string {
  const [first] = files;
  const stranger = files.find(({ account }) => account !== first?.account);
  if (first !== undefined && stranger !== undefined) {
    throw invalidRequest(
      `${field} refers to the files ${first.id} and ${stranger.id}, which lie with different accounts: upload them ` +
        "to one account with X-Gateway-Target-Account",
      field,
    );
  }
  return first?.account ?? "";
}
