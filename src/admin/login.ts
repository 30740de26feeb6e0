import * as z from "zod";
import { issueToken } from "../auth/admin-token.ts";
import { bearer, checkAdminKey, checkAdminToken } from "../auth/administrators.ts";
import { hashPassword } from "../auth/password.ts";
import { newSecret } from "../auth/secrets.ts";
import { ensureSigningSecret } from "../auth/signing-secret.ts";
import { readBody } from "../http/json-body.ts";
import type { Handler } from "../platform/context.ts";
import { edit } from "./edit.ts";

/** `POST /admin/login`. `admin_key` is the deployment's admin key or the password. */
export const loginSchema = z.object({
  admin_key: z.string("an admin key or password is needed").min(1, "an admin key or password is needed"),
  expire_hours: z
    .number()
    .positive("must be more than 0")
    .max(8760, "must be at most 8760, a year")
    .optional(),
});

/** `POST /admin/settings/password`. `password` is another name of `new_password`. */
export const passwordSchema = z
  .object({ new_password: z.string().optional(), password: z.string().optional() })
  .transform(({ new_password, password }) => ({ new_password: new_password ?? password }))
  .pipe(
    z.object({
      new_password: z
        .string("a new password is needed")
        .trim()
        .min(4, "must have at least 4 characters")
        .max(1024, "must have at most 1024 characters"),
    }),
  );

/** `POST /admin/login` (contract). `expires_in` is in seconds. */
export const login: Handler = async (context) => {
  const body = await readBody(context.request, loginSchema);
  await checkAdminKey(context, body.admin_key.trim());
  const { platform } = context;
  const secret = await ensureSigningSecret(platform);
  const { config } = await context.config();
  const hours = body.expire_hours ?? config.admin.jwt_expire_hours;
  const lifetime = Math.max(1, Math.round(hours * 3600));
  const token = await issueToken(secret, platform.now(), lifetime);
  return Response.json({ success: true, token, expires_in: lifetime });
};

/** `GET /admin/verify` (contract): `expires_at` is Unix seconds. */
export const verify: Handler = async (context) => {
  const expiresAt = await checkAdminToken(context, bearer(context.request));
  const remaining = Math.max(0, expiresAt - Math.floor(context.platform.now() / 1000));
  return Response.json({ valid: true, expires_at: expiresAt, remaining_seconds: remaining });
};

/**
 * `POST /admin/settings/password` (contract). All older tokens end: they are signed with a secret that is replaced,
 * which tells a token from before the change even within the same second.
 */
export const changePassword: Handler = async (context) => {
  const { new_password: password } = await readBody(context.request, passwordSchema);
  const hash = await hashPassword(password);
  const validAfter = Math.floor(context.platform.now() / 1000);
  await edit(context, (config) => ({
    ...config,
    admin: {
      ...config.admin,
      password_hash: hash,
      jwt_valid_after_unix: validAfter,
      jwt_secret: newSecret(),
    },
  }));
  return Response.json({
    success: true,
    message: "the password is changed; sign in again",
    jwt_valid_after_unix: validAfter,
  });
};
