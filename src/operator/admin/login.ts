import * as z from "zod";
import { issueToken, readTokenId } from "../../core/auth/admin-token.ts";
import { checkAdminKey } from "../../core/auth/administrators.ts";
import { ensureSigningSecret } from "../../core/auth/signing-secret.ts";
import { lazyObject } from "../../core/encoding/lazy-schema.ts";
import { type Endpoint, jsonResponse, openEndpoint, tokenEndpoint } from "../../core/routing/endpoint.ts";
import { successSchema } from "./answers.ts";
import { recordAction } from "./audit-recording.ts";

/** Body of `POST /admin/login`. `admin_key` is the deployment's admin key or the password. */
const loginSchema = lazyObject(() => ({
  admin_key: z.string("an admin key or password is needed").min(1, "an admin key or password is needed"),
  expire_hours: z
    .number()
    .positive("must be more than 0")
    .max(8760, "must be at most 8760, a year")
    .optional(),
}));

export const LOGIN_ENDPOINTS = [
  /** `POST /admin/login` (contract). `expires_in` is in seconds. */
  openEndpoint({
    method: "POST",
    path: "/admin/login",
    summary: "Sign in with the admin key",
    body: loginSchema,
    // Unauthenticated clients can send this body, so the limit is low.
    maxBody: 16 * 1024,
    answers: jsonResponse(() => successSchema().extend({ token: z.string(), expires_in: z.int() })),
    handler: async (context, { body }) => {
      await checkAdminKey(context, body.admin_key.trim());
      const { platform } = context;
      const secret = await ensureSigningSecret(platform);
      const { config } = await context.config();
      const hours = body.expire_hours ?? config.admin.jwt_expire_hours;
      const lifetime = Math.max(1, Math.round(hours * 3600));
      const token = await issueToken(secret, platform.now(), lifetime);
      await recordAction(context, {}, `token:${readTokenId(token)}`);
      return Response.json({ success: true, token, expires_in: lifetime });
    },
  }),
  /** `GET /admin/verify` (contract): `expires_at` is Unix seconds. */
  tokenEndpoint({
    method: "GET",
    path: "/admin/verify",
    summary: "Check a token",
    answers: jsonResponse(() =>
      z.object({ valid: z.literal(true), expires_at: z.int(), remaining_seconds: z.int() }),
    ),
    handler: ({ platform }, { token: { expiresAt } }) => {
      const remaining = Math.max(0, expiresAt - Math.floor(platform.now() / 1000));
      return Response.json({ valid: true, expires_at: expiresAt, remaining_seconds: remaining });
    },
  }),
] satisfies readonly Endpoint[];
