import type { Caller } from "../../core/auth/callers.ts";
import { accountIdentifier, indexAccountsByName } from "../../core/config/account-identifier.ts";
import { DEFAULT_PROVIDER } from "../../core/config/provider-id.ts";
import type { Config } from "../../core/config/schema.ts";
import { GatewayError, invalidRequest } from "../../core/errors/gateway-error.ts";
import type { Context } from "../../core/ports/context.ts";
import type { FileRecord } from "../../core/ports/files.ts";
import { findProviderOfTokenAccount } from "../../pool/configuration.ts";
import type { FilesApi } from "../providers/files/files-api.ts";
import { getProvider, type RegisteredProvider } from "../providers/provider-registry.ts";

/** Request header that names the provider of an upload. Answers of generations name theirs with the same header. */
const PROVIDER_HEADER = "X-Gateway-Provider";

/** A provider that stores files. */
export interface FileProvider {
  readonly provider: RegisteredProvider;
  readonly files: FilesApi;
}

/** Creates the 404 for a file that does not exist, has expired, or belongs to another caller. */
export function fileNotFoundError(id: string): GatewayError {
  const message = `there is no file with id ${JSON.stringify(id)}: it may have been deleted, or have expired`;
  return new GatewayError(404, message, { code: "file_not_found", param: "file_id" });
}

/** Returns the provider that a request names for its upload; undefined: it names none. */
export function readRequestedProvider({ headers }: Request): string | undefined {
  return headers.get(PROVIDER_HEADER)?.trim() || undefined;
}

/**
 * Returns the provider that receives an upload: the requested one, else that of the account that the caller is pinned to,
 * else the default provider. Without a default provider it is the first enabled one.
 *
 * @param requested the provider's id, or `default`
 * @throws GatewayError 400 for a provider that does not exist or is not enabled; 403 for a configured provider and a
 *   caller without a key of the gateway; 501 if the provider does not store files; 503 if there is no provider
 */
export async function selectUploadProvider(
  { platform, config: readConfig }: Pick<Context, "platform" | "config">,
  caller: Caller,
  requested: string | undefined,
): Promise<FileProvider> {
  const { config } = await readConfig();
  if (requested !== undefined) {
    if (requested === DEFAULT_PROVIDER) return withFiles(getProvider(platform, config, ""));
    if (caller.mode === "own-token") {
      // Also for a provider that does not exist: a stranger does not learn which ones do.
      const message = `the provider ${JSON.stringify(requested)} needs an API key of the gateway`;
      throw new GatewayError(403, message, { code: "permission_denied", param: PROVIDER_HEADER });
    }
    if (!config.providers.some((entry) => entry.id === requested && entry.enabled))
      throw invalidRequest(`there is no enabled provider ${JSON.stringify(requested)}`, PROVIDER_HEADER);
    return withFiles(getProvider(platform, config, requested));
  }
  const pinned = await findProviderOfAccount(config, caller.targetAccount);
  if (pinned !== undefined) return withFiles(getProvider(platform, config, pinned));
  const isWithoutDefault = platform.providerBaseUrl === null && caller.mode === "managed";
  const first = isWithoutDefault ? config.providers.find(({ enabled }) => enabled) : undefined;
  return withFiles(getProvider(platform, config, first?.id));
}

/**
 * Returns the provider that has a file. Without a record it is the default provider.
 *
 * @throws GatewayError 404 if the provider is no longer configured; 501 if it does not store files; 503 if it is not
 *   enabled
 */
export async function getFileProvider(
  { platform, config: readConfig }: Pick<Context, "platform" | "config">,
  record: FileRecord | null,
): Promise<FileProvider> {
  const { config } = await readConfig();
  if (record?.provider !== undefined && !config.providers.some(({ id }) => id === record.provider)) {
    throw fileNotFoundError(record.id);
  }
  return withFiles(getProvider(platform, config, record?.provider));
}

function withFiles(provider: RegisteredProvider): FileProvider {
  const { files } = provider.api;
  if (files !== undefined) return { provider, files };
  throw new GatewayError(501, "this provider keeps no files: send them within the request", {
    code: "unsupported",
  });
}

/** Returns the id of the provider that has the account with this name; undefined: no account has it. */
async function findProviderOfAccount(config: Config, name: string | null): Promise<string | undefined> {
  if (name === null) return undefined;
  const accounts = await Promise.all(
    config.accounts.map(async (account) => ({ ...account, id: await accountIdentifier(account) })),
  );
  const id = indexAccountsByName(accounts).get(name.toLowerCase());
  const account = accounts.find((candidate) => candidate.id === id);
  if (account !== undefined) return account.provider ?? "";
  return findProviderOfTokenAccount(config, name);
}

/** Whether an error means that the account of a file or a batch is no longer configured. */
export function isAccountGone(error: unknown): boolean {
  return error instanceof GatewayError && error.code === "target_account_not_found";
}
