import * as z from "zod";
import { isDefaultPassword } from "../../../core/auth/admin-credentials.ts";
import { hashPassword } from "../../../core/auth/password.ts";
import { createSecret } from "../../../core/auth/secrets.ts";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { successSchema } from "../answers.ts";
import { editConfig } from "../editing/config-edit.ts";

/** Body of `POST /admin/settings/password`. `password` is an alias of `new_password`. */
const passwordSchema = lazyObject(() => ({
  new_password: z.string().optional(),
  password: z.string().optional(),
}))
  .transform(({ new_password, password }) => ({ new_password: new_password ?? password }))
  .pipe(
    lazyObject(() => ({
      new_password: z
        .string("a new password is needed")
        .trim()
        .min(4, "must have at least 4 characters")
        .max(1024, "must have at most 1024 characters"),
    })),
  );

export const PASSWORD_ENDPOINTS = [
  /**
   * `POST /admin/settings/password` (docs/contract/admin-configuration.md). Ends all older tokens by replacing the
   * secret that signs them. Unlike a timestamp, this also ends tokens that were issued within the same second.
   */
  adminEndpoint({
    method: "POST",
    path: "/admin/settings/password",
    role: "owner",
    summary: "Change the admin password",
    body: passwordSchema,
    answers: jsonResponse(() =>
      successSchema().extend({
        message: z.string(),
        jwt_valid_after_unix: z.int(),
        warning: z.string().optional(),
      }),
    ),
    handler: async (context, { body: { new_password: password } }) => {
      const hash = await hashPassword(password);
      const validAfter = Math.floor(context.platform.now() / 1000);
      await editConfig(context, (config) => ({
        ...config,
        admin: {
          ...config.admin,
          password_hash: hash,
          jwt_valid_after_unix: validAfter,
          jwt_secret: createSecret(),
        },
      }));
      return Response.json({
        success: true,
        message: "the password is changed; sign in again",
        jwt_valid_after_unix: validAfter,
        ...(isDefaultPassword(password) && {
          warning: "this password is known to everybody: choose another",
        }),
      });
    },
  }),
] satisfies readonly Endpoint[];
