import * as z from "zod";
import { keyIdentifier } from "../../../core/config/api-keys.ts";
import { HISTORY_MODES } from "../../../core/config/history-mode.ts";
import type { ApiKey } from "../../../core/config/schemas/key-schema.ts";
import type { SubjectUsage } from "../../../core/ports/subject-limits.ts";
import type { KeyUsage } from "../../../core/ports/usage.ts";
import { clampedSum, fromNano } from "../../../records/usage/prices.ts";
import { maskKey } from "./key-entries.ts";
import { usedSchema, usedView } from "./limit-use.ts";
import { cacheViewSchema } from "./subject-fields.ts";

/**
 * An API key as administrators see it (docs/contract/keys.md, API keys). `id` identifies the key in paths of `/admin/keys`.
 * Times are Unix milliseconds, 0 for unknown and never.
 */
export const keyViewSchema = () =>
  z.object({
    key: z.string(),
    id: z.string(),
    name: z.string(),
    remark: z.string(),
    created: z.int(),
    expires: z.int(),
    disabled: z.boolean(),
    /** Only its digest and its last four characters are stored. */
    hashed: z.boolean(),
    /** End of the grace period in which the secret before the rotation still works. */
    grace_until: z.int(),
    /** Ids; empty: none. */
    team: z.string(),
    user: z.string(),
    limits: z.looseObject({}),
    models: z.array(z.string()),
    dialects: z.array(z.string()),
    networks: z.array(z.string()),
    allowed_tags: z.array(z.string()),
    guardrails: z.array(z.string()),
    /** What history and captures keep. */
    history: z.enum(HISTORY_MODES),
    cache: cacheViewSchema(),
  });
export type KeyView = z.output<ReturnType<typeof keyViewSchema>>;

/** The same with what requests with the key have used. */
export const keyWithUsageSchema = () =>
  keyViewSchema().extend({
    /** End of its last request in Unix milliseconds; 0: no request yet. */
    last_used: z.int(),
    /** Since midnight (UTC). */
    used_today: z.object({ requests: z.int(), tokens: z.int(), cost: z.number() }),
    used: usedSchema(),
    /** Models without a price that it may use, if it has a budget of cost: their cost is not counted. */
    unpriced_models: z.int(),
  });

/** The members of {@link keyWithUsageSchema} that the use gives. */
export function keyUsageView(usage: KeyUsage | undefined, limitUse: SubjectUsage | undefined) {
  const today = usage?.today;
  return {
    last_used: usage?.last_used ?? 0,
    used_today: {
      requests: today?.requests ?? 0,
      tokens: clampedSum(today?.prompt_tokens ?? 0, today?.completion_tokens ?? 0),
      cost: fromNano(today?.cost_nano ?? 0),
    },
    used: usedView(limitUse),
  };
}

/** The masked view of an API key. */
export async function keyView(entry: ApiKey): Promise<KeyView> {
  const {
    limits = {},
    models = [],
    dialects = [],
    networks = [],
    allowed_tags = [],
    guardrails = [],
  } = entry;
  return {
    key: maskKey(entry),
    id: await keyIdentifier(entry),
    name: entry.name,
    remark: entry.remark,
    created: entry.created ?? 0,
    expires: entry.expires ?? 0,
    disabled: entry.disabled ?? false,
    hashed: entry.key === "",
    grace_until: Math.max(0, ...(entry.previous ?? []).map(({ until }) => until)),
    team: entry.team ?? "",
    user: entry.user ?? "",
    limits,
    models,
    dialects,
    networks,
    allowed_tags,
    guardrails,
    history: entry.history ?? "full",
    cache: entry.cache ?? {},
  };
}
