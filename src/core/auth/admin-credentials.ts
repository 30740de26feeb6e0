import type { Config } from "../config/schema.ts";
import type { Administrator } from "../config/schemas/administrator-schema.ts";
import { sha256Hex } from "../encoding/hash.ts";
import { oncePer } from "../encoding/once.ts";
import { GatewayError, unauthorized } from "../errors/gateway-error.ts";
import { clientKey } from "../http/client-key.ts";
import type { Context } from "../ports/context.ts";
import type { Platform } from "../ports/platform.ts";
import type { Variables } from "../variables/variables.ts";
import { KeyCheckCache, type KeyVerdict } from "./key-check-cache.ts";
import { verifyPassword } from "./password.ts";
import { equalSecrets } from "./secrets.ts";
import { countAttempt, tooManyAttempts, uncountSignIn } from "./sign-in-attempts.ts";

/** The admin key that development starts with. It is publicly known. */
const DEFAULT_KEY = "admin";

/** Whether a password is the publicly known development key. */
export const isDefaultPassword = (password: string): boolean => password === DEFAULT_KEY;

/** The result for the last hash: computing it takes a tenth of a second. */
let lastDefaultCheck: { readonly hash: string; readonly isDefault: Promise<boolean> } | null = null;

/** Whether the development key allows sign-in (docs/contract/admin-configuration.md, Runtime settings). */
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
export function findAdministrator({ administrators }: Config, id: string): Administrator | undefined {
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
