import * as z from "zod";
import { lazyObject } from "../../encoding/lazy-schema.ts";
import { markSecret } from "../marked-secrets.ts";

/** How an account authenticates. The first two use the account's `token` and `password`. */
export const AUTH_TYPES = ["api_key", "password", "oauth2", "google_service_account", "aws_sigv4"] as const;
export type AuthType = (typeof AUTH_TYPES)[number];

/**
 * The shape of `auth`. Which fields an account needs depends on the type.
 *
 * @param minLength of each text: 0 if an empty text means an absent one
 */
export function authShape(minLength: 0 | 1) {
  const text = () => z.string().trim().min(minLength).max(4_096).optional();
  /** Secrets, with room for a key file. */
  const secret = () => markSecret(z.string().trim().min(minLength).max(16_384).optional());
  return {
    type: z.enum(AUTH_TYPES),
    /** The token endpoint (RFC 6749, section 3.2). The same rules apply as to a provider's `base_url`. */
    token_url: text(),
    client_id: text(),
    client_secret: secret(),
    /** Where the client secret goes: into the body, or into the header `Authorization` (RFC 6749, section 2.3.1). */
    client_auth: z.enum(["post", "basic"]).optional(),
    /** Absent: the grant is `client_credentials`. */
    refresh_token: secret(),
    scope: text(),
    audience: text(),
    /** RFC 8707. */
    resource: text(),
    /** The text of the JSON key file of a Google service account. */
    service_account_key: secret(),
    access_key_id: text(),
    secret_access_key: secret(),
    session_token: secret(),
    region: text(),
    service: text(),
  };
}

/** The fields of `auth`. */
export const authFields = lazyObject(() => authShape(1));

/** The settings of an account's authentication. */
export type AccountAuth = z.output<typeof authFields>;

/** Whether accounts of this type have no password and no token of their own. */
export function hasOwnCredentials(auth: AccountAuth | undefined): auth is AccountAuth {
  return auth !== undefined && auth.type !== "api_key" && auth.type !== "password";
}

/** The effective type of an account's authentication. */
export function authTypeOf({
  auth,
  password,
}: {
  auth?: AccountAuth | undefined;
  password: string;
}): AuthType {
  return auth?.type ?? (password === "" ? "api_key" : "password");
}
