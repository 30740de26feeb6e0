import type { Caller } from "../../../core/auth/callers.ts";
import type { Config } from "../../../core/config/schema.ts";
import { abortOnDisconnect } from "../../../core/http/client-disconnect.ts";
import type { Context } from "../../../core/ports/context.ts";
import { withAccount } from "../../../gateway/accounts/with-account.ts";
import type { Provider } from "../../../gateway/providers/provider.ts";
import { getProvider, type RegisteredProvider } from "../../../gateway/providers/provider-registry.ts";
import type { UpstreamAccount } from "../../../gateway/providers/upstream-account.ts";
import { accountIdentifiers } from "../account-identifiers.ts";

/** Timeout of an administrator's call to the provider, including the wait for a slot. */
const CALL_TIMEOUT_MS = 25_000;

/** Returns a caller that is pinned to one account, for calls by administrators. null: any account. */
export function administratorCaller(account: string | null): Caller {
  return { mode: "managed", credential: "", owner: "", key: null, targetAccount: account };
}

/** Returns the provider id of a configured account. Empty string: the default provider. */
export async function findProviderId(config: Config, account: string | null): Promise<string> {
  if (account === null) return "";
  return config.accounts[(await accountIdentifiers(config)).indexOf(account)]?.provider ?? "";
}

/**
 * Calls the provider with one account, in a slot of that account.
 *
 * @param account the account's identifier; null: any account
 * @throws GatewayError or ProviderError for every failure; a `DOMException` `TimeoutError` after 25 s.
 */
export async function callWithAccount<T>(
  context: Context,
  account: string | null,
  model: string,
  call: (account: UpstreamAccount, signal: AbortSignal, provider: Provider) => Promise<T>,
): Promise<T> {
  const { config } = await context.config();
  const provider = getProvider(context.platform, config, await findProviderId(config, account));
  return callProvider(context, provider, account, model, call);
}

/** Like `callWithAccount`, for a given provider. `account` null: any account of that provider. */
export async function callProvider<T>(
  context: Context,
  provider: RegisteredProvider,
  account: string | null,
  model: string,
  call: (account: UpstreamAccount, signal: AbortSignal, provider: Provider) => Promise<T>,
): Promise<T> {
  const { abort, stop } = abortOnDisconnect(context);
  const timer = setTimeout(() => {
    abort.abort(new DOMException("the call took too long", "TimeoutError"));
  }, CALL_TIMEOUT_MS);
  try {
    return await withAccount(
      {
        context,
        caller: administratorCaller(account),
        provider,
        model,
        dialect: "admin",
        abort,
        canRetry: () => true,
      },
      (session) => session.runWithToken((upstream) => call(upstream, abort.signal, provider.api)),
    );
  } finally {
    clearTimeout(timer);
    stop();
  }
}
