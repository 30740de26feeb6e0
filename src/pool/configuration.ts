import { accountIdentifier } from "../core/config/account-identifier.ts";
import { PLACEHOLDER_TOKEN, toTokenAccountId } from "../core/config/provider-id.ts";
import type { Config } from "../core/config/schema.ts";
import { authTypeOf, hasOwnCredentials } from "../core/config/schemas/account-auth-schema.ts";
import type { Account } from "../core/config/schemas/account-schema.ts";
import type { ProviderEntry } from "../core/config/schemas/provider-schema.ts";
import { sha256Hex } from "../core/encoding/hash.ts";
import type { PoolAccount, PoolConfiguration } from "../core/ports/pool-configuration.ts";
import { HOUR_MS } from "../core/units.ts";

/** Whether the accounts of a provider may have any number of requests at once. */
export function hasNoLimit({
  account_max_inflight,
  max_concurrent,
}: Pick<ProviderEntry, "account_max_inflight" | "max_concurrent">): boolean {
  return max_concurrent === 0 && account_max_inflight === 0;
}

/** The provider whose own token an account stands for (empty: the default one), by the account's id in any case. */
export function findProviderOfTokenAccount(
  { providers }: Pick<Config, "providers">,
  accountId: string,
): string | undefined {
  const id = accountId.toLowerCase();
  return ["", ...providers.map((entry) => entry.id)].find(
    (provider) => toTokenAccountId(provider).toLowerCase() === id,
  );
}

/** The names of an account, its provider, and whether it is disabled. */
export type ConfiguredAccount = Pick<Account, "email" | "mobile" | "provider" | "disabled">;

/** The configured account with this identifier, or the account for a provider's own token; null: none. */
export async function findConfiguredAccount(
  config: Config,
  identifier: string,
): Promise<ConfiguredAccount | null> {
  for (const account of config.accounts) {
    if ((await accountIdentifier(account)) === identifier) return account;
  }
  const provider = findProviderOfTokenAccount(config, identifier);
  const hasOwnAccount = config.accounts.some((account) => (account.provider ?? "") === provider);
  return provider === undefined || hasOwnAccount
    ? null
    : { email: "", mobile: "", provider, disabled: false };
}

/**
 * Creates the account for a provider that has its own key and no configured accounts.
 * `provider`: empty for the default one.
 */
function createTokenAccount(provider: string, token: string): PoolAccount {
  return {
    id: toTokenAccountId(provider),
    email: "",
    mobile: "",
    password: "",
    token: token || PLACEHOLDER_TOKEN,
    proxyId: "",
    ...(provider === "" ? {} : { provider }),
  };
}

/** The credentials of an account, as the pool uses them. */
async function readCredentials(
  account: Account,
): Promise<Pick<PoolAccount, "password" | "token" | "auth" | "tokenType">> {
  const { auth, password, token } = account;
  if (!hasOwnCredentials(auth))
    return { password: authTypeOf(account) === "password" ? password : "", token };
  if (auth.type === "aws_sigv4") return { password: "", token: JSON.stringify(auth), tokenType: "aws_keys" };
  // A new scope or client secret does not end the grant, so a rotated refresh token stays.
  const { type, token_url, client_id, refresh_token, service_account_key } = auth;
  const grantDigest = await sha256Hex(
    JSON.stringify([type, token_url, client_id, refresh_token, service_account_key]),
  );
  return { password: "", token: "", auth: { settings: auth, grantDigest }, tokenType: "access_token" };
}

/** What the pool's configuration depends on besides the runtime configuration. */
export interface PoolDeployment {
  /** How long a request may wait in the queue, in ms: a variable of the deployment. */
  readonly queueWaitMs: number;
  /** Whether a provider with this driver can be used with its own key alone, without accounts. */
  needsNoAccount(driver: string): boolean;
  /** Where the default provider is, and its own token. Absent: unknown. */
  readonly defaultEndpoint?: Endpoint;
}

/** Where a provider is, and its own token. */
type Endpoint = Pick<ProviderEntry, "driver" | "base_url" | "token">;

/** Whether the default provider can be used without accounts. Without an address there is none. */
const isUsableAlone = (
  { driver, base_url }: Endpoint,
  needsNoAccount: PoolDeployment["needsNoAccount"],
): boolean => base_url !== "" && needsNoAccount(driver);

/** Digest of an endpoint. A token that an account got there must not be sent to another one. */
const digestEndpoint = ({ driver, base_url, token }: Endpoint): Promise<string> =>
  sha256Hex(JSON.stringify([driver, base_url, token]));

/** Builds the pool's configuration. `version`: see `PoolConfiguration`. */
export async function buildPoolConfiguration(
  config: Pick<Config, "accounts" | "proxies" | "providers" | "runtime">,
  { queueWaitMs, needsNoAccount, defaultEndpoint }: PoolDeployment,
  version?: number,
): Promise<PoolConfiguration> {
  const accounts: PoolAccount[] = [];
  const enabled = config.providers.filter(({ enabled }) => enabled);
  const usable = new Set(enabled.map(({ id }) => id));
  const withAccounts = new Set<string>();
  const endpoints = new Map<string, Endpoint | undefined>([
    ["", defaultEndpoint],
    ...config.providers.map((entry) => [entry.id, entry] as const),
  ]);
  for (const account of config.accounts) {
    const { email, mobile, weight, provider = "" } = account;
    const id = await accountIdentifier(account);
    const disabled = account.disabled || (provider !== "" && !usable.has(provider));
    const credentials = await readCredentials(account);
    const endpoint = credentials.token === "" ? endpoints.get(provider) : undefined;
    const poolAccount = {
      id,
      email,
      mobile,
      ...credentials,
      proxyId: account.proxy_id,
      disabled,
      weight,
      ...(endpoint === undefined ? {} : { endpointDigest: await digestEndpoint(endpoint) }),
    };
    accounts.push(provider === "" ? poolAccount : { ...poolAccount, provider });
    withAccounts.add(provider);
  }
  for (const entry of enabled) {
    if (!withAccounts.has(entry.id) && needsNoAccount(entry.driver))
      accounts.push(createTokenAccount(entry.id, entry.token));
  }
  if (
    !withAccounts.has("") &&
    defaultEndpoint !== undefined &&
    isUsableAlone(defaultEndpoint, needsNoAccount)
  )
    accounts.push(createTokenAccount("", defaultEndpoint.token));
  const slotsByProvider = enabled.flatMap((entry) =>
    entry.account_max_inflight > 0 || hasNoLimit(entry)
      ? [[entry.id, entry.account_max_inflight] as const]
      : [],
  );
  const { runtime } = config;
  return {
    ...(version === undefined ? {} : { version }),
    accounts,
    proxies: config.proxies.map(({ id, name: _, ...settings }) => ({
      id,
      settings: JSON.stringify(settings),
    })),
    ...(slotsByProvider.length === 0 ? {} : { perAccount: Object.fromEntries(slotsByProvider) }),
    limits: {
      perAccount: runtime.account_max_inflight,
      global: runtime.global_max_inflight,
      queue: runtime.account_max_queue,
      queueWaitMs,
      tokenRefreshMs: runtime.token_refresh_interval_hours * HOUR_MS,
    },
  };
}
