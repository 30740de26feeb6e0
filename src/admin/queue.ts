import * as z from "zod";
import { lazyObject } from "../encoding/lazy-schema.ts";
import { PROVIDER_ERROR_KINDS } from "../errors/provider-error.ts";
import type { QueueStatus } from "../platform/account-status.ts";
import { type Endpoint, forAdministrators, json } from "../routing/endpoint.ts";
import { cooldownSchema } from "./answers.ts";

const queueStatusSchema = () =>
  z.object({
    available: z.int(),
    ready: z.int(),
    in_use: z.int(),
    total: z.int(),
    available_accounts: z.array(z.string()),
    in_use_accounts: z.array(z.string()),
    max_inflight_per_account: z.int(),
    global_max_inflight: z.int(),
    recommended_concurrency: z.int(),
    waiting: z.int(),
    max_queue_size: z.int(),
    leases: z.array(
      z.object({
        account: z.string(),
        age_ms: z.int(),
        model: z.string(),
        request_id: z.string(),
        key: z.string(),
        dialect: z.string(),
      }),
    ),
    cooling: z.int(),
    cooldowns: z.array(cooldownSchema()),
    /** How many accounts are how; `failing` is the newest that is known of them. */
    conditions: z.object({
      ok: z.int(),
      untested: z.int(),
      failing: z.int(),
      cooling: z.int(),
      disabled: z.int(),
    }),
    failing: z.array(z.object({ account: z.string(), reason: z.string(), at: z.int() })),
    /** The models for which a provider is down; an empty name stands for all. */
    outages: z.array(
      z.object({
        /** Empty: the default one. */
        provider: z.string(),
        model: z.string(),
        kind: z.enum(PROVIDER_ERROR_KINDS),
        reason: z.string(),
        since: z.int(),
      }),
    ),
    waiting_requests: z.array(
      z.object({
        request_id: z.string(),
        model: z.string(),
        target: z.string().nullable(),
        waiting_ms: z.int(),
      }),
    ),
    /** With several account pools: some have not answered, and nothing here counts their accounts. */
    partial: z.boolean().optional(),
    silent_shards: z.array(z.string()).optional(),
  }) satisfies z.ZodType<QueueStatus>;

/** `most`: entries of each list at most; without it all, of which there may be thousands. The numbers count all. */
const queueQuerySchema = lazyObject(() => ({ most: z.coerce.number().int().min(0).max(100_000).optional() }));

export const QUEUE_ENDPOINTS: readonly Endpoint[] = [
  /** `GET /admin/queue/status` (contract, Queue status), with the live leases, the cooldowns and who waits. */
  forAdministrators({
    method: "GET",
    path: "/admin/queue/status",
    summary: "Slots and waiting queue",
    query: queueQuerySchema,
    answers: json(queueStatusSchema),
    handler: async ({ platform }, { query }) => Response.json(await platform.accounts.status(query.most)),
  }),
];
