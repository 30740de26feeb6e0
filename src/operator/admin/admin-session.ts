import { issueToken, readTokenId } from "../../core/auth/admin-token.ts";
import { ensureSigningSecret } from "../../core/auth/signing-secret.ts";
import type { Administrator } from "../../core/config/schema.ts";
import type { Context } from "../../core/ports/context.ts";
import { recordAction } from "./audit-recording.ts";

/**
 * Issues a token to someone who has signed in, and records it in the audit log.
 *
 * @param administrator absent: whoever has the admin key
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
    administrator === undefined ? undefined : { id: administrator.id, epoch: administrator.session_epoch };
  const token = await issueToken(secret, platform.now(), lifetime, holder);
  await recordAction(
    context,
    {},
    holder === undefined ? `token:${readTokenId(token)}` : `admin:${holder.id}`,
  );
  return { token, expires_in: lifetime };
}
