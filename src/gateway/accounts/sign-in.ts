import type {
  CredentialAudience,
  Credentials,
  Lease,
  SignInResult,
  SignInTicket,
} from "../../core/ports/accounts.ts";
import { toAccountFailure, toProviderError } from "./fault-attribution.ts";

/**
 * Gets a token for the leased account: the pool's current one, or a new one from `signIn` when the pool asks this request
 * to sign in. The pool lets only one of several concurrent requests sign in.
 *
 * When `signal` has aborted, a failed sign-in at the provider is not reported to the pool: the caller releases the lease,
 * and the next waiting request signs in.
 *
 * @param staleToken a token that the provider has refused
 * @param confirm throws when the token or the credentials belong to another provider than the request uses; then no sign-in
 *   happens
 * @throws ProviderError why the sign-in failed, also when another request did it
 */
export async function getAccountToken(
  lease: Lease,
  signIn: (credentials: Credentials) => Promise<SignInResult>,
  staleToken?: string,
  signal?: AbortSignal,
  confirm?: (audience: CredentialAudience) => Promise<void>,
): Promise<string> {
  if (staleToken === undefined && lease.initialToken !== null) return lease.initialToken;
  const answer = await lease.getToken(staleToken);
  if ("failed" in answer) throw toProviderError(answer.failed);
  await confirm?.(answer);
  if ("token" in answer) return answer.token;
  return signInAndReport(lease, answer.signIn, signIn, signal);
}

async function signInAndReport(
  lease: Lease,
  { ticket, credentials, current }: SignInTicket,
  signIn: (credentials: Credentials) => Promise<SignInResult>,
  signal: AbortSignal | undefined,
): Promise<string> {
  let result: SignInResult;
  try {
    result = await signIn(credentials);
  } catch (error) {
    if (signal?.aborted && credentials.auth === undefined) throw error;
    await lease.failSignIn(ticket, toAccountFailure(error));
    if (current !== undefined) return current;
    throw error;
  }
  await lease.completeSignIn(ticket, result);
  return result.token;
}
