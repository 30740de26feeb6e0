import * as z from "zod";
import { once } from "../../encoding/once.ts";
import { parseNetwork } from "../cidr-network.ts";
import { subjectIdSchema } from "../entry-id.ts";
import { HISTORY_MODES } from "../history-mode.ts";
import { markSecret } from "../marked-secrets.ts";
import { limitsSchema } from "./limits-schema.ts";
import { cacheSettingSchema } from "./response-cache-schema.ts";
import { extensibleObject, nameListSchema, timeSchema } from "./shared-fields.ts";

const network = once(() =>
  z
    .string()
    .trim()
    .refine((text) => parseNetwork(text) !== null, "must be an address, or a network such as 192.0.2.0/24"),
);

/** SHA-256 of a key, in hexadecimal. */
const digest = once(() =>
  markSecret(z.string().regex(/^[\da-f]{64}$/, "must be a SHA-256 in lower-case hexadecimal")),
);

/** The fields of an API key, for schemas that extend it. */
export const apiKeyFields = extensibleObject(() => ({
  /** Empty if only the digest is stored. */
  key: markSecret(z.string().trim().default(""), "shortened"),
  name: z.string().default(""),
  remark: z.string().default(""),
  /** Permanent id of the key. Absent: derived from its digest, see `keyIdentifier`. */
  id: z.string().trim().min(1).max(64).optional(),
  /** Digest that owns the callers' stored objects, after a rotation. Absent: the key's own digest. */
  owner: digest().optional(),
  /** Digest and last four characters, if the key itself is not stored. */
  digest: digest().optional(),
  last4: z.string().max(4).optional(),
  /** Unix milliseconds; 0 or absent: unknown. */
  created: timeSchema().optional(),
  /** Unix milliseconds; 0 or absent: never. */
  expires: timeSchema().optional(),
  disabled: z.boolean().optional(),
  /** Previous secrets after rotations, newest first, and until when each works: Unix milliseconds. */
  previous: z.array(z.object({ digest: digest(), until: timeSchema() })).optional(),
  /** Ids of its team and of its user. Their limits hold for all of their keys together. */
  team: z.union([z.literal(""), subjectIdSchema()]).optional(),
  user: z.union([z.literal(""), subjectIdSchema()]).optional(),
  limits: limitsSchema.optional(),
  /** Allowed models, dialects and client networks (CIDR); empty or absent: all. */
  models: nameListSchema().optional(),
  dialects: nameListSchema().optional(),
  networks: z.array(network()).optional(),
  /** Tags that its requests may name; empty or absent: all. See `request-tags.ts`. */
  allowed_tags: nameListSchema().optional(),
  /** Ids of the guardrails that apply besides those for all. */
  guardrails: nameListSchema().optional(),
  /** What history and captures keep of its requests; absent: everything. */
  history: z.enum(HISTORY_MODES).optional(),
  cache: cacheSettingSchema.optional(),
  /** Part of the cache key of its answers. An increase invalidates all answers cached before. */
  cache_epoch: timeSchema().optional(),
}));

/** An API key of a caller (docs/contract/keys.md, API keys). Unknown fields are preserved. */
export const apiKeySchema = apiKeyFields.refine(
  ({ key, digest: storedDigest }) => key !== "" || storedDigest !== undefined,
  {
    error: "a key must not be empty",
    path: ["key"],
  },
);

export type ApiKey = z.output<typeof apiKeySchema>;
