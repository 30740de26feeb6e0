import type { Credentials, Lease, MeantFor, SignedIn, SignInTicket } from "../platform/accounts.ts";
import { errorOf, failureOf } from "./fault.ts";

/**
 * A token for the leased account: the pool's own, or, when the pool hands this request the ticket, a new one from
 * `signIn`. `stale` is a token that the provider has refused. However many requests ask at once, one of them signs in.
 * When `signal` has aborted, a failing sign-in is no news to the others: the caller releases the lease, and the next
 * request that waits signs in. `confirm` throws when the provider that is spoken to is none of those whom the answer is for:
 * then nothing is signed in.
 *
 * @throws ProviderError why the sign-in failed, also when another request did it.
 */
export async function accountToken(
  lease: Lease,
  signIn: (credentials: Credentials) => Promise<SignedIn>,
  stale?: string,
  signal?: AbortSignal,
  confirm?: (meant: MeantFor) => Promise<void>,
): Promise<string> {
  if (stale === undefined && lease.initialToken !== null) return lease.initialToken;
  const answer = await lease.token(stale);
  if ("failed" in answer) throw errorOf(answer.failed);
  await confirm?.(answer);
  if ("token" in answer) return answer.token;
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
    await lease.signInFailed(ticket, failureOf(error));
    if (current !== undefined) return current;
    throw error;
  }
  await lease.signedIn(ticket, result);
  return result.token;
}
