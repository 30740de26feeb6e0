import type { ConfigSnapshot } from "../config/snapshot.ts";
import type { Platform } from "../ports/platform.ts";
import { deriveSecret } from "./password.ts";
import { createSecret } from "./secrets.ts";

const derivedSecrets = new Map<string, string>();

/**
 * The secret that signs administrators' tokens; null if there is none yet. A read-only configuration cannot store one: there
 * it is derived from the password hash and the admin key.
 */
export async function getSigningSecret(
  platform: { readonly variables: Pick<Platform["variables"], "adminKey"> },
  snapshot: ConfigSnapshot,
): Promise<string | null> {
  const { admin } = snapshot.config;
  if (admin.jwt_secret !== "") return admin.jwt_secret;
  const { adminKey } = platform.variables;
  if (snapshot.writable) return null;
  // A secret derived from public values would be useless. Administration is closed in this case.
  if (admin.password_hash === "" && adminKey === null) return null;
  const source = `${admin.password_hash}\n${adminKey ?? ""}`;
  let secret = derivedSecrets.get(source);
  if (secret === undefined) {
    secret = await deriveSecret(source, "administrators' tokens");
    derivedSecrets.clear();
    derivedSecrets.set(source, secret);
  }
  return secret;
}

/** Returns the signing secret; creates and stores one if there is none. */
export async function ensureSigningSecret(platform: Platform): Promise<string> {
  const known = await getSigningSecret(platform, await platform.configuration.readFresh());
  if (known !== null) return known;
  const { config } = await platform.configuration.update((current) =>
    current.admin.jwt_secret === ""
      ? { ...current, admin: { ...current.admin, jwt_secret: createSecret() } }
      : current,
  );
  return config.admin.jwt_secret;
}
