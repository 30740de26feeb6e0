import * as z from "zod";
import { checkAdministratorPassword, checkAdminKey } from "../../../core/auth/admin-credentials.ts";
import { ROLES } from "../../../core/config/roles.ts";
import type { Administrator } from "../../../core/config/schemas/administrator-schema.ts";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { type Endpoint, jsonResponse, openEndpoint, tokenEndpoint } from "../../../core/routing/endpoint.ts";
import { successSchema } from "../answers.ts";
import { endSession, startSession } from "./admin-session.ts";

const MISSING = "an admin key or password is needed";

/**
 * Body of `POST /admin/login`. `admin_key` is the deployment's admin key or its password. `name` and `password` are those of
 * an administrator.
 */
const loginSchema = lazyObject(() => ({
  admin_key: z.string(MISSING).min(1, MISSING).optional(),
  name: z.string().trim().max(64).optional(),
  password: z.string().max(1024).optional(),
  expire_hours: z
    .number()
    .positive("must be more than 0")
    .max(8760, "must be at most 8760, a year")
    .optional(),
}));

export const LOGIN_ENDPOINTS = [
  /** `POST /admin/login` (docs/contract/admin.md). `expires_in` is in seconds. */
  openEndpoint({
    method: "POST",
    path: "/admin/login",
    summary: "Sign in with the admin key",
    body: loginSchema,
    // Unauthenticated clients can send this body, so the limit is low.
    maxBody: 16 * 1024,
    answers: jsonResponse(() => successSchema().extend({ token: z.string(), expires_in: z.int() })),
    handler: async (context, { body }) => {
      const { admin_key: key, name, password, expire_hours: hours } = body;
      let administrator: Administrator | undefined;
      if (key !== undefined) await checkAdminKey(context, key.trim());
      else if (name !== undefined && password !== undefined)
        administrator = await checkAdministratorPassword(context, name, password);
      else throw invalidRequest(`admin_key: ${MISSING}, or a name with its password`, "admin_key");
      return Response.json({ success: true, ...(await startSession(context, administrator, hours)) });
    },
  }),
  /** `GET /admin/verify` (docs/contract/admin.md): `expires_at` is Unix seconds. */
  tokenEndpoint({
    method: "GET",
    path: "/admin/verify",
    summary: "Check a token",
    answers: jsonResponse(() =>
      z.object({
        valid: z.literal(true),
        expires_at: z.int(),
        remaining_seconds: z.int(),
        role: z.enum(ROLES),
        /** The administrator's name to sign in with; null: the holder of the admin key. */
        administrator: z.string().nullable(),
      }),
    ),
    handler: ({ platform }, { token: { expiresAt, role, administrator } }) => {
      const remaining = Math.max(0, expiresAt - Math.floor(platform.now() / 1000));
      return Response.json({
        valid: true,
        expires_at: expiresAt,
        remaining_seconds: remaining,
        role,
        administrator,
      });
    },
  }),
  /** `POST /admin/logout`: the token is refused from now on. */
  tokenEndpoint({
    method: "POST",
    path: "/admin/logout",
    summary: "End the session of a token",
    answers: jsonResponse(successSchema),
    handler: async (context, { token }) => {
      await endSession(context, token);
      return Response.json({ success: true });
    },
  }),
] satisfies readonly Endpoint[];
