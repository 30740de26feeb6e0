import type { Config } from "../config/schema.ts";
import type { ConfigSnapshot } from "../config/snapshot.ts";
import { sha256Hex } from "../encoding/hash.ts";
import { GatewayError } from "../errors/gateway-error.ts";
import { clientKey } from "../http/client-key.ts";
import type { Context } from "../platform/context.ts";
import type { Platform } from "../platform/platform.ts";
import type { Variables } from "../platform/variables.ts";
import { checkToken, looksLikeToken, type TokenCheck } from "./admin-token.ts";
import { verifyPassword } from "./password.ts";
import { sameSecret } from "./secrets.ts";
import { signingSecret } from "./signing-secret.ts";

/** The admin key that development starts with; no secret at all. */
const DEFAULT_KEY = "admin";

/** An admin key or password that was right is not checked again for this long. */
const REMEMBER_MS = 60_000;
const MAX_REMEMBERED = 1_000;

function unauthorized(message: string): GatewayError {
  return new GatewayError(401, message, { code: "invalid_api_key" });
}

/** Whether anybody could sign in with the development key (contract, Runtime settings). */
export function hasDefaultPassword(variables: Variables, config: Config): boolean {
  return variables.adminKey === DEFAULT_KEY && config.admin.password_hash === "";
}

/**
 * Whether a credential opens the admin API: the password, once one is set, or the deployment's `ADMIN_KEY`. The key goes
 * on working beside a password, so that whoever runs the deployment can get back in; only the development key does not.
 */
async function opens(variables: Variables, config: Config, credential: string): Promise<boolean> {
  const { adminKey } = variables;
  const { password_hash: hash } = config.admin;
  const keyCounts = adminKey !== null && (hash === "" || adminKey !== DEFAULT_KEY);
  if (keyCounts && (await sameSecret(credential, adminKey))) return true;
  return hash !== "" && (await verifyPassword(credential, hash));
}

interface KeyCheck {
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly right: Promise<boolean>;
}

const checksOf = new WeakMap<Platform, Map<string, KeyCheck>>();

/**
 * Checks an admin key or password. Wrong ones from one address are slowed down.
 *
 * @throws GatewayError 401 for a wrong one, 429 while the address has to pause, 403 while the deployment has no admin
 *   key.
 */
export async function checkAdminKey(context: Context, credential: string): Promise<void> {
  const { platform } = context;
  const { config } = await context.config();
  const { variables } = platform;
  const checks = checksOf.get(platform) ?? new Map<string, KeyCheck>();
  checksOf.set(platform, checks);
  if (variables.adminKey === null && config.admin.password_hash === "") {
    throw new GatewayError(
      403,
      "administration is closed: set the ADMIN_KEY secret of this deployment, then sign in with it",
      { code: "permission_denied" },
    );
  }
  const client = clientKey(context.clientAddress);
  const name = `${client} ${config.admin.password_hash} ${await sha256Hex(credential)}`;
  const now = platform.now();
  let check = checks.get(name);
  if (check === undefined || check.until <= now) {
    if (checks.size >= MAX_REMEMBERED) checks.clear();
    // Requests that come at once share one attempt.
    check = { until: now + REMEMBER_MS, right: guarded(context, client, credential) };
    checks.set(name, check);
    const forget = () => void checks.delete(name);
    // Others may wait for the outcome, so that it must come although this client leaves.
    context.waitUntil(check.right.then((right) => right || forget(), forget));
  }
  if (!(await check.right)) throw unauthorized("the admin key or password is wrong");
}

async function guarded({ platform }: Context, client: string, credential: string): Promise<boolean> {
  const decision = await platform.administration.loginAttempt(client);
  if (!decision.allowed) {
    throw new GatewayError(429, `too many failed attempts: try again in ${decision.waitSeconds} s`, {
      code: "rate_limit_exceeded",
    });
  }
  // The password may have been changed elsewhere just now.
  const { config } = await platform.configuration.readFresh();
  const right = await opens(platform.variables, config, credential);
  if (right) await platform.administration.loginSucceeded(client);
  return right;
}

const rereadAt = new WeakMap<Platform, number>();

/** The newest configuration for a token that did not pass: it may have been made elsewhere just now. */
async function reread({ platform }: Context): Promise<ConfigSnapshot | null> {
  const now = platform.now();
  if (now - (rereadAt.get(platform) ?? 0) < 1_000) return null;
  rereadAt.set(platform, now);
  return platform.configuration.readFresh();
}

async function check(context: Context, snapshot: ConfigSnapshot, token: string): Promise<TokenCheck> {
  const { platform } = context;
  const secret = await signingSecret(platform, snapshot);
  if (secret === null) return { valid: false, expired: false };
  return checkToken(token, secret, snapshot.config.admin.jwt_valid_after_unix, platform.now());
}

/** An administrator's token that was accepted. */
export interface AdminToken {
  /** Unix seconds. */
  readonly expiresAt: number;
}

/**
 * Checks an administrator's token.
 *
 * @throws GatewayError 401 for one that has ended or was never valid.
 */
async function checkAdminToken(context: Context, token: string): Promise<AdminToken> {
  let outcome = await check(context, await context.config(), token);
  if (!outcome.valid) {
    const newer = await reread(context);
    if (newer !== null) outcome = await check(context, newer, token);
  }
  if (outcome.valid) return { expiresAt: outcome.expiresAt };
  throw unauthorized(outcome.expired ? "the token has expired: sign in again" : "the token is not valid");
}

/** The bearer credential of a request; throws 401 when there is none. */
function bearer(request: Request): string {
  const credential = /^bearer\s+(.+)$/i.exec(request.headers.get("authorization")?.trim() ?? "")?.[1];
  if (credential !== undefined) return credential.trim();
  throw unauthorized("administrators only: send Authorization: Bearer <token or admin key>");
}

/**
 * Lets an administrator through, by token or by admin key (contract, Admin endpoints authentication).
 *
 * @throws GatewayError 401 for anybody else, 429 while the client's address has to pause.
 */
export async function authenticateAdmin(context: Context): Promise<void> {
  const credential = bearer(context.request);
  if (looksLikeToken(credential)) await checkAdminToken(context, credential);
  else await checkAdminKey(context, credential);
}

/** The same by token alone. Throws 401 for anybody else. */
export async function authenticateToken(context: Context): Promise<AdminToken> {
  const credential = bearer(context.request);
  if (looksLikeToken(credential)) return checkAdminToken(context, credential);
  throw unauthorized("a token from POST /admin/login is needed here");
}
