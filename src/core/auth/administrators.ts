import type { Administrator } from "../config/administrator-schema.ts";
import type { Role } from "../config/roles.ts";
import type { Config } from "../config/schema.ts";
import type { ConfigSnapshot } from "../config/snapshot.ts";
import { sha256Hex } from "../encoding/hash.ts";
import { oncePer } from "../encoding/once-per.ts";
import { GatewayError } from "../errors/gateway-error.ts";
import { clientKey, networkKey } from "../http/client-key.ts";
import type { LoginDecision } from "../ports/administration.ts";
import type { Context } from "../ports/context.ts";
import type { Platform } from "../ports/platform.ts";
import type { Variables } from "../ports/variables.ts";
import type { TokenCheck } from "./admin-token.ts";
import { KeyCheckCache, type KeyVerdict } from "./key-check-cache.ts";
import { FREE_ATTEMPTS, FREE_NETWORK_ATTEMPTS } from "./login-guard.ts";
import { verifyPassword } from "./password.ts";
import { equalSecrets } from "./secrets.ts";
import { getSigningSecret } from "./signing-secret.ts";
import { loadTokenModule, looksLikeToken } from "./token-detection.ts";

/** The admin key that development starts with. It is publicly known. */
const DEFAULT_KEY = "admin";

function unauthorized(message: string): GatewayError {
  return new GatewayError(401, message, { code: "invalid_api_key" });
}

/** Whether a password is the publicly known development key. */
export const isDefaultPassword = (password: string): boolean => password === DEFAULT_KEY;

/** The result for the last hash: computing it takes a tenth of a second. */
let lastDefaultCheck: { readonly hash: string; readonly isDefault: Promise<boolean> } | null = null;

/** Whether the development key allows sign-in (contract, Runtime settings). */
export async function hasDefaultPassword(variables: Variables, config: Config): Promise<boolean> {
  const { password_hash: hash } = config.admin;
  if (hash === "") return variables.adminKey === DEFAULT_KEY;
  if (lastDefaultCheck?.hash !== hash)
    lastDefaultCheck = { hash, isDefault: verifyPassword(DEFAULT_KEY, hash) };
  return lastDefaultCheck.isDefault;
}

/**
 * Whether a credential gives access to the admin API: the password, if one is set, or the deployment's `ADMIN_KEY`. The key
 * works beside a password, so that the operator can get back in. Only the development key stops working.
 */
async function isAdminCredential(variables: Variables, config: Config, credential: string): Promise<boolean> {
  const { adminKey } = variables;
  const { password_hash: hash } = config.admin;
  const isKeyAccepted = adminKey !== null && (hash === "" || adminKey !== DEFAULT_KEY);
  if (isKeyAccepted && (await equalSecrets(credential, adminKey))) return true;
  return hash !== "" && (await verifyPassword(credential, hash));
}

/** The hash of no password: comparing with it takes as long as with another. */
const NO_PASSWORD = `pbkdf2-sha256$100000$${"A".repeat(22)}$${"A".repeat(43)}`;

/** Finds an administrator who may sign in. */
function findAdministrator({ administrators }: Config, id: string): Administrator | undefined {
  return administrators.find((entry) => entry.id === id && !entry.disabled);
}

/**
 * Checks the name and password of an administrator, with the same limits as an admin key. An unknown name takes as long as a
 * wrong password.
 *
 * @throws GatewayError 401 for a wrong one, 429 while the address must wait.
 */
export async function checkAdministratorPassword(
  context: Context,
  id: string,
  password: string,
): Promise<Administrator> {
  const { config } = await context.platform.configuration.readFresh();
  const hash = findAdministrator(config, id)?.password_hash || NO_PASSWORD;
  const name = `${JSON.stringify(id)} ${hash} ${await sha256Hex(password)}`;
  await checkLimited(context, name, "the name or password is wrong", async () =>
    verifyPassword(password, hash),
  );
  const administrator = findAdministrator((await context.platform.configuration.readFresh()).config, id);
  if (administrator === undefined) throw unauthorized("the name or password is wrong");
  return administrator;
}

const getCheckCache = oncePer((_: Platform) => new KeyCheckCache());

/**
 * Checks an admin key or password. Wrong ones are rate-limited by address and by network.
 *
 * @throws GatewayError 401 for a wrong one, 429 while the address must wait, 403 if the deployment has no admin key.
 */
export async function checkAdminKey(context: Context, credential: string): Promise<void> {
  const { platform } = context;
  const { config } = await context.config();
  if (platform.variables.adminKey === null && config.admin.password_hash === "") {
    throw new GatewayError(
      403,
      "administration is closed: set the ADMIN_KEY secret of this deployment, then sign in with it",
      { code: "permission_denied" },
    );
  }
  const name = `${config.admin.password_hash} ${await sha256Hex(credential)}`;
  // The password may just have been changed in another isolate, so the newest configuration counts.
  await checkLimited(context, name, "the admin key or password is wrong", (newest) =>
    isAdminCredential(platform.variables, newest, credential),
  );
}

/**
 * Checks a credential. Wrong ones are rate-limited by address and by network, and right ones cached.
 *
 * @param name name of the credential, for the cache
 * @throws GatewayError 401 for a wrong one, 429 while the address must wait.
 */
async function checkLimited(
  context: Context,
  name: string,
  message: string,
  isRight: (config: Config) => Promise<boolean>,
): Promise<void> {
  const { platform } = context;
  const client = clientKey(context.clientAddress);
  const verdict = await getCheckCache(platform).check(client, name, platform.now(), () => {
    const checking = checkWithGuard(context, isRight);
    // Other requests may wait for the outcome, so the check must finish even if this client disconnects.
    context.waitUntil(checking.catch(() => undefined));
    return checking;
  });
  if ("waitSeconds" in verdict) throw tooManyAttempts(verdict.waitSeconds);
  if (!verdict.right) throw unauthorized(message);
}

/**
 * Counts an attempt of a client to sign in, which is failed until {@link uncountSignIn}.
 *
 * @param kind separates attempts that are counted apart; empty: those with keys and passwords
 */
async function countAttempt(
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

const tooManyAttempts = (waitSeconds: number): GatewayError =>
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

async function checkWithGuard(
  context: Context,
  isRight: (config: Config) => Promise<boolean>,
): Promise<KeyVerdict> {
  const decision = await countAttempt(context, "");
  if (!decision.allowed) return decision;
  const { config } = await context.platform.configuration.readFresh();
  const isValid = await isRight(config);
  if (isValid) await uncountSignIn(context);
  return { right: isValid };
}

/** The epoch of tokens for the admin key: another key, or another password, ends them. */
export async function getOwnerEpoch(
  { adminKey }: Pick<Variables, "adminKey">,
  signingSecret: string,
): Promise<string> {
  return (await sha256Hex(`${signingSecret}\n${adminKey ?? ""}`)).slice(0, 16);
}

const rereadAt = new WeakMap<Platform, number>();

/**
 * Reads the newest configuration for a token that failed: the token may just have been issued by another isolate. At most
 * once a second.
 */
async function rereadConfig({ platform }: Context): Promise<ConfigSnapshot | null> {
  const now = platform.now();
  if (now - (rereadAt.get(platform) ?? 0) < 1_000) return null;
  rereadAt.set(platform, now);
  return platform.configuration.readFresh();
}

async function verifyAdminToken(
  context: Context,
  snapshot: ConfigSnapshot,
  token: string,
): Promise<TokenCheck> {
  const { platform } = context;
  const secret = await getSigningSecret(platform, snapshot);
  if (secret === null) return { valid: false, expired: false };
  const { checkToken } = await loadTokenModule();
  const { admin } = snapshot.config;
  const check = await checkToken(token, secret, admin.jwt_valid_after_unix, platform.now());
  if (!check.valid) return check;
  const { id, epoch } = check.holder;
  const current =
    id === null
      ? // Tokens of earlier versions have no epoch.
        epoch && (await getOwnerEpoch(platform.variables, secret))
      : findAdministrator(snapshot.config, id)?.session_epoch;
  const isCurrent = epoch === current && !(await platform.administration.isTokenRevoked(check.id));
  return isCurrent ? check : { valid: false, expired: true };
}

/** An accepted administrator's token. */
export interface AdminToken {
  /** Unix seconds. */
  readonly expiresAt: number;
  /** A public id, no secret. */
  readonly id: string;
  readonly role: Role;
  /** The administrator's name to sign in with; null: the holder of the admin key. */
  readonly administrator: string | null;
}

/** An authenticated administrator. */
export interface AuthenticatedAdmin {
  /** The name in the audit log: `admin:<id>`, `token:<id>`, or `key`. */
  readonly name: string;
  readonly role: Role;
}

/**
 * Verifies an administrator's token.
 *
 * @throws GatewayError 401 for an expired or invalid token.
 */
async function checkAdminToken(context: Context, token: string): Promise<AdminToken> {
  let snapshot = await context.config();
  let outcome = await verifyAdminToken(context, snapshot, token);
  if (!outcome.valid) {
    const newer = await rereadConfig(context);
    if (newer !== null) {
      snapshot = newer;
      outcome = await verifyAdminToken(context, newer, token);
    }
  }
  if (outcome.valid) {
    const { expiresAt, id, holder } = outcome;
    if (holder.id === null) return { expiresAt, id, role: "owner", administrator: null };
    const administrator = findAdministrator(snapshot.config, holder.id);
    if (administrator !== undefined)
      return { expiresAt, id, role: administrator.role, administrator: administrator.id };
    throw unauthorized("the token is not valid: sign in again");
  }
  throw unauthorized(
    outcome.expired ? "the token has expired: sign in again" : "the token is not valid: sign in again",
  );
}

/** The bearer credential of a request; throws 401 when there is none. */
function readBearer(request: Request): string {
  const credential = /^bearer\s+(\S.*)$/i.exec(request.headers.get("authorization")?.trim() ?? "")?.[1];
  if (credential !== undefined) return credential.trim();
  throw unauthorized("administrators only: send Authorization: Bearer <token or admin key>");
}

/**
 * Authenticates an administrator by token or admin key (contract, Admin endpoints authentication). The
 * admin key is an owner's.
 *
 * @throws GatewayError 401 for all others, 429 while the client's address must wait.
 */
export async function authenticateAdmin(context: Context): Promise<AuthenticatedAdmin> {
  const credential = readBearer(context.request);
  if (looksLikeToken(credential)) {
    const { id, role, administrator } = await checkAdminToken(context, credential);
    return { name: administrator === null ? `token:${id}` : `admin:${administrator}`, role };
  }
  await checkAdminKey(context, credential);
  return { name: "key", role: "owner" };
}

/** Authenticates an administrator by token only. Throws 401 for all others. */
export async function authenticateToken(context: Context): Promise<AdminToken> {
  const credential = readBearer(context.request);
  if (looksLikeToken(credential)) return checkAdminToken(context, credential);
  throw unauthorized("a token from POST /admin/login is needed here");
}
