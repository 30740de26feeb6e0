import { issueToken, readTokenId } from "../../../core/auth/admin-token.ts";
import { type AdminToken, getOwnerEpoch } from "../../../core/auth/administrators.ts";
import { ensureSigningSecret } from "../../../core/auth/signing-secret.ts";
import type { Administrator } from "../../../core/config/schemas/administrator-schema.ts";
import { GatewayError } from "../../../core/errors/gateway-error.ts";
import type { Context } from "../../../core/ports/context.ts";
import { recordAction } from "../editing/audit-recording.ts";

/**
 * Issues a token to someone who has signed in, and records it in the audit log.
 *
 * @param administrator absent: the holder of the admin key
 * @param hours lifetime of the token; absent: the setting
 */
export async function startSession(
  context: Context,
  administrator: Administrator | undefined,
  hours?: number,
): Promise<{ readonly token: string; readonly expires_in: number }> {
  const { platform } = context;
  const secret = await ensureSigningSecret(platform);
  const { config } = await context.config();
  const lifetime = Math.max(1, Math.round((hours ?? config.admin.jwt_expire_hours) * 3600));
  const holder =
    administrator === undefined
      ? { id: null, epoch: await getOwnerEpoch(platform.variables, secret) }
      : { id: administrator.id, epoch: administrator.session_epoch };
  const token = await issueToken(secret, platform.now(), lifetime, holder);
  await recordAction(context, {}, holder.id === null ? `token:${readTokenId(token)}` : `admin:${holder.id}`);
  return { token, expires_in: lifetime };
}

/** Ends the session of a token, for good, and records it in the audit log. */
export async function endSession(
  context: Context,
  { id, expiresAt, administrator }: AdminToken,
): Promise<void> {
  if (id === "") {
    const message = "an earlier version issued this token, which only a new password ends before it expires";
    throw new GatewayError(409, message, { code: "invalid_request" });
  }
  await context.platform.administration.revokeToken(id, expiresAt * 1000);
  await recordAction(context, {}, administrator === null ? `token:${id}` : `admin:${administrator}`);
}
