/**
 * Id of the provider that the environment variables select, in records, usage, limits, names of models and the admin API.
 * Stored accounts, files and batches, the pool and its messages do not name it: there the id is absent or empty, which
 * stored data and other versions of the gateway require.
 */
export const DEFAULT_PROVIDER = "default";

/** The provider's id in records and limits, from an id that is absent or empty for the default provider. */
export function toProviderId(id: string | undefined): string {
  return id || DEFAULT_PROVIDER;
}

const TOKEN_ACCOUNT = "provider:";

/** Id of the account that stands for a provider's own token, for a provider without configured accounts. */
export function toTokenAccountId(provider: string): string {
  return TOKEN_ACCOUNT + toProviderId(provider);
}

/** Whether an account's id is that of a provider's own token. Such an account has no name. */
export function isTokenAccountId(account: string): boolean {
  return account.startsWith(TOKEN_ACCOUNT);
}

/** Token for backends without a key: some backends reject an empty header. */
export const PLACEHOLDER_TOKEN = "none";
