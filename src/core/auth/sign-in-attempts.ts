import { GatewayError } from "../errors/gateway-error.ts";
import { clientKey, networkKey } from "../http/client-key.ts";
import type { LoginDecision } from "../ports/administration.ts";
import type { Context } from "../ports/context.ts";
import { FREE_ATTEMPTS, FREE_NETWORK_ATTEMPTS } from "./login-guard.ts";

/**
 * Counts an attempt of a client to sign in, which is failed until {@link uncountSignIn}.
 *
 * @param kind separates attempts that are counted apart; empty: those with keys and passwords
 */
export async function countAttempt(
  { platform: { administration }, clientAddress }: Context,
  kind: string,
): Promise<LoginDecision> {
  const decision = await administration.recordLoginAttempt(
    `${kind}${clientKey(clientAddress)}`,
    FREE_ATTEMPTS,
  );
  const network = networkKey(clientAddress);
  if (!decision.allowed || network === null) return decision;
  return administration.recordLoginAttempt(`${kind}${network}`, FREE_NETWORK_ATTEMPTS);
}

/** Takes back a counted attempt, because it succeeded. */
export async function uncountSignIn(
  { platform: { administration }, clientAddress }: Context,
  kind = "",
): Promise<void> {
  await administration.recordLoginSuccess(`${kind}${clientKey(clientAddress)}`);
  const network = networkKey(clientAddress);
  if (network !== null) await administration.recordLoginSuccess(`${kind}${network}`);
}

/** The error for a client that must wait. */
export const tooManyAttempts = (waitSeconds: number): GatewayError =>
  new GatewayError(429, `too many failed attempts: try again in ${waitSeconds} s`, {
    code: "rate_limit_exceeded",
  });

/**
 * Counts an attempt to sign in that is failed until {@link uncountSignIn}.
 *
 * @throws GatewayError 429 while the address must wait.
 */
export async function countSignIn(context: Context, kind: string): Promise<void> {
  const decision = await countAttempt(context, kind);
  if (!decision.allowed) throw tooManyAttempts(decision.waitSeconds);
}
