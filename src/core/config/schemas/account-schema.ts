import * as z from "zod";
import { lazyObject } from "../../encoding/lazy-schema.ts";
import { markSecret } from "../marked-secrets.ts";
import { authFields } from "./account-auth-schema.ts";

/** A provider account as it is stored (docs/contract/accounts.md). All fields are strings, empty when unset. */
export const accountSchema = lazyObject(() => ({
  email: z.string().trim().default(""),
  mobile: z.string().trim().default(""),
  password: markSecret(z.string().default("")),
  token: markSecret(z.string().trim().default(""), "shortened"),
  name: z.string().default(""),
  remark: z.string().default(""),
  proxy_id: z.string().default(""),
  /** Stored, but not used for requests. */
  disabled: z.boolean().default(false),
  /** Relative number of requests in the rotation. */
  weight: z.number().int().min(1).max(100).default(1),
  /** Id of its provider; empty or absent: the one that the environment variables select. */
  provider: z.string().trim().optional(),
  /** How it authenticates. Absent: by its password, or else by its token. */
  auth: authFields.optional(),
}));

export type Account = z.output<typeof accountSchema>;
