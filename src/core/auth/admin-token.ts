import { decodeJwt, errors, jwtVerify, SignJWT } from "jose";
import type { Config } from "../config/schema.ts";

const ISSUER = "polygate";
const SUBJECT = "administrator";
/** Subject of the tokens of named administrators. Earlier versions, which know no roles, reject it. */
const NAMED_SUBJECT = "named-administrator";
const ALGORITHM = "HS256";
/** Allowed difference between the clocks of two places, in seconds. */
const CLOCK_TOLERANCE = 60;

const encodeSecret = (secret: string): Uint8Array => new TextEncoder().encode(secret);

/** The administrator that a token belongs to. The token ends when its holder gets another epoch. */
export interface TokenHolder {
  /** Null: the holder of the admin key. */
  readonly id: string | null;
  /** Empty in tokens of earlier versions for the admin key. */
  readonly epoch: string;
}

/**
 * Makes an administrator's token.
 *
 * @param now milliseconds since the epoch
 * @param lifetime seconds
 */
export function issueToken(
  secret: string,
  now: number,
  lifetime: number,
  { id, epoch }: TokenHolder,
): Promise<string> {
  const issuedAt = Math.floor(now / 1000);
  return new SignJWT(id === null ? { epoch } : { administrator: id, epoch })
    .setProtectedHeader({ alg: ALGORITHM, typ: "JWT" })
    .setIssuer(ISSUER)
    .setSubject(id === null ? SUBJECT : NAMED_SUBJECT)
    .setJti(crypto.randomUUID().slice(0, 8))
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + lifetime)
    .sign(encodeSecret(secret));
}

/** A token's public id (`jti`). Reads it without verifying the token. */
export function readTokenId(token: string): string {
  return decodeJwt(token).jti ?? "";
}

/** Outcome of a check. `expiresAt` is in Unix seconds; `id` is empty for tokens of earlier versions. */
export type TokenCheck =
  | { readonly valid: true; readonly expiresAt: number; readonly id: string; readonly holder: TokenHolder }
  | { readonly valid: false; readonly expired: boolean };

/** Verifies a token: its signature, its times, and that no later password change has revoked it. */
export async function checkToken(
  token: string,
  secret: string,
  validAfter: Config["admin"]["jwt_valid_after_unix"],
  now: number,
): Promise<TokenCheck> {
  try {
    const { payload } = await jwtVerify(token, encodeSecret(secret), {
      algorithms: [ALGORITHM],
      typ: "JWT",
      issuer: ISSUER,
      requiredClaims: ["iat", "exp"],
      currentDate: new Date(now),
    });
    const issuedAt = payload.iat ?? 0;
    if (issuedAt > now / 1000 + CLOCK_TOLERANCE) return { valid: false, expired: false };
    if (issuedAt < validAfter) return { valid: false, expired: true };
    const valid = { valid: true, expiresAt: payload.exp ?? 0, id: payload.jti ?? "" } as const;
    const { administrator, epoch } = payload;
    if (payload.sub === SUBJECT)
      return { ...valid, holder: { id: null, epoch: typeof epoch === "string" ? epoch : "" } };
    if (payload.sub !== NAMED_SUBJECT || typeof administrator !== "string" || typeof epoch !== "string")
      return { valid: false, expired: false };
    return { ...valid, holder: { id: administrator, epoch } };
  } catch (error) {
    return { valid: false, expired: error instanceof errors.JWTExpired };
  }
}

/** Whether a credential names this program as its issuer, valid or not. */
export function claimsOwnIssuer(credential: string): boolean {
  try {
    return decodeJwt(credential).iss === ISSUER;
  } catch {
    return false;
  }
}
