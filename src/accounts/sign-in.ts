import { ProviderError } from "../errors/provider-error.ts";
import type { Credentials, Lease, SignedIn, SignInFailure, SignInTicket } from "../platform/accounts.ts";

/**
 * A token for the leased account: the pool's own, or, when the pool hands this request the ticket, a new one from
 * `signIn`. `stale` is a token that the provider has refused. However many requests ask at once, one of them signs in.
 * When `signal` has aborted, a failing sign-in is no news to the others: the caller releases the lease, and the next
 * request that waits signs in.
 *
 * @throws ProviderError why the sign-in failed, also when another request did it.
 */
export async function accountToken(
  lease: Lease,
  signIn: (credentials: Credentials) => Promise<SignedIn>,
  stale?: string,
  signal?: AbortSignal,
): Promise<string> {
  if (stale === undefined && lease.initialToken !== null) return lease.initialToken;
  const answer = await lease.token(stale);
  if ("token" in answer) return answer.token;
  if ("failed" in answer) {
    throw new ProviderError(answer.failed.kind, answer.failed.message, answer.failed.status);
  }
  return redeem(lease, answer.signIn, signIn, signal);
}

async function redeem(
  lease: Lease,
  { ticket, credentials, current }: SignInTicket,
  signIn: (credentials: Credentials) => Promise<SignedIn>,
  signal: AbortSignal | undefined,
): Promise<string> {
  let result: SignedIn;
  try {
    result = await signIn(credentials);
  } catch (error) {
    if (signal?.aborted) throw error;
    await lease.signInFailed(ticket, signInFailure(error));
    if (current !== undefined) return current;
    throw error;
  }
  await lease.signedIn(ticket, result);
  return result.token;
}

/** What other waiting requests learn of a failed sign-in. */
function signInFailure(error: unknown): SignInFailure {
  if (!(error instanceof ProviderError)) {
    return { kind: "unreachable", message: "the account could not be signed in", status: 0 };
  }
  return { kind: error.kind, message: error.message, status: error.status };
}
