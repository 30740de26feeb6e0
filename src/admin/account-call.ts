import { type Access, openAccess } from "../accounts/access.ts";
import type { Caller } from "../auth/callers.ts";
import { GatewayError } from "../errors/gateway-error.ts";
import { isAccountFault, ProviderError } from "../errors/provider-error.ts";
import type { Context } from "../platform/context.ts";
import type { UpstreamAccount } from "../provider/provider.ts";

/** How long an administrator's call to the provider may take, with the wait for a slot. */
export const CALL_TIMEOUT_MS = 25_000;

/** The caller as which an administrator uses one account. */
export function administratorAs(account: string): Caller {
  return { mode: "managed", credential: "", owner: "", targetAccount: account };
}

/**
 * Speaks to the provider on one account's behalf, in a slot of that account. A refused token is replaced once; the pool
 * learns how it went, so that a success ends a cooldown.
 *
 * @param account the identifier
 * @throws GatewayError or ProviderError, whatever went wrong.
 */
export async function onAccount<T>(
  context: Context,
  account: string,
  model: string,
  work: (account: UpstreamAccount, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const signal = AbortSignal.any([context.request.signal, AbortSignal.timeout(CALL_TIMEOUT_MS)]);
  let access: Access = await openAccess(context, administratorAs(account), {
    model,
    dialect: "admin",
    exclude: [],
    signal,
  });
  const { lease } = access;
  try {
    let result: T;
    try {
      result = await work(access.account, signal);
    } catch (error) {
      if (!(error instanceof ProviderError) || error.kind !== "token_expired") throw error;
      const renewed = await access.refreshed(signal);
      if (renewed === null) throw error;
      access = renewed;
      result = await work(access.account, signal);
    }
    await lease?.succeeded();
    return result;
  } catch (error) {
    if (error instanceof ProviderError && isAccountFault(error.kind)) {
      await lease?.failed(error.kind, error.message);
    }
    throw error;
  } finally {
    lease?.release();
  }
}

/** What an administrator is told of a failure; nothing internal. */
export function failureMessage(error: unknown): string {
  // Callers are told little of an account's troubles; administrators learn the kind.
  if (error instanceof ProviderError) return `${error.message} (${error.kind})`;
  if (error instanceof GatewayError) return error.message;
  if (error instanceof DOMException && error.name === "TimeoutError") return "the provider took too long";
  return "the call failed inside the gateway";
}
