import type { Role } from "../config/roles.ts";
import type { ConfigSnapshot } from "../config/snapshot.ts";
import { sha256Hex } from "../encoding/hash.ts";
import { unauthorized } from "../errors/gateway-error.ts";
import type { Context } from "../ports/context.ts";
import type { Platform } from "../ports/platform.ts";
import type { Variables } from "../variables/variables.ts";
import { checkAdminKey, findAdministrator } from "./admin-credentials.ts";
import type { TokenCheck } from "./admin-token.ts";
import { getSigningSecret } from "./signing-secret.ts";
import { loadTokenModule, looksLikeToken } from "./token-detection.ts";

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
 * Authenticates an administrator by token or admin key (docs/contract/admin.md, Admin endpoints). The
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
