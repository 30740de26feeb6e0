import * as z from "zod";
import { lazyObject } from "../../encoding/lazy-schema.ts";
import { subjectIdSchema } from "../entry-id.ts";
import { markSecret } from "../marked-secrets.ts";
import { ROLES } from "../roles.ts";
import { baseAddress, extensibleObject } from "./shared-fields.ts";

/** A named administrator. Unknown fields are preserved. */
export const administratorSchema = extensibleObject(() => ({
  /** The name to sign in with. */
  id: subjectIdSchema(),
  name: z.string().default(""),
  role: z.enum(ROLES),
  /** PBKDF2 hash of the password; empty: no sign-in by password. */
  password_hash: markSecret(z.string().default("")),
  /** Verified email address, or subject, of the identity provider; empty: none. The subject counts if there are both. */
  email: z.string().trim().toLowerCase().max(320).default(""),
  oidc_subject: z.string().trim().max(255).default(""),
  disabled: z.boolean().default(false),
  /** Part of the administrator's tokens. A new value ends those that were issued before. */
  session_epoch: z.string().max(64).default(""),
}));

/** The identity provider (OpenID Connect) of administrators. It is used if it has an issuer. */
export const oidcSchema = lazyObject(() => ({
  issuer: z.union([z.literal(""), baseAddress()]).default(""),
  client_id: z.string().trim().max(500).default(""),
  client_secret: markSecret(z.string().trim().max(2_000).default(""), "shortened"),
  scope: z.string().trim().min(1).max(500).default("openid email"),
  /** Address of `/admin/oidc/callback` as the identity provider knows it; empty: derived from the request. */
  redirect_uri: z.string().trim().max(2_000).default(""),
  /** Text of the button on the sign-in page. */
  label: z.string().trim().max(100).default(""),
}));

export type Administrator = z.output<typeof administratorSchema>;
