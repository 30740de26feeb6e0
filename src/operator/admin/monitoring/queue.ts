import * as z from "zod";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import { PROVIDER_ERROR_KINDS } from "../../../core/errors/provider-error.ts";
import type { QueueStatus } from "../../../core/ports/account-status.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { cooldownSchema } from "../accounts/account-view.ts";
import { providerHealthSchema } from "./provider-health.ts";

const queueStatusSchema = () =>
  z.object({
    available: z.int(),
    ready: z.int(),
    in_use: z.int(),
    total: z.int(),
    available_accounts: z.array(z.string()),
    in_use_accounts: z.array(z.string()),
    max_inflight_per_account: z.int(),
    /** Slots of the listed accounts that have another number of them; 0: no limit. Absent: there are none. */
    account_slots: z.record(z.string(), z.int()).optional(),
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
    /** Number of accounts per condition. `failing` lists the most recent failures. */
    conditions: z.object({
      ok: z.int(),
      untested: z.int(),
      failing: z.int(),
      cooling: z.int(),
      disabled: z.int(),
    }),
    failing: z.array(z.object({ account: z.string(), reason: z.string(), at: z.int() })),
    /** Models for which a provider is down; an empty name means all models. */
    outages: z.array(
      z.object({
        /** Provider id; empty: the default provider. */
        provider: z.string(),
        model: z.string(),
        kind: z.enum(PROVIDER_ERROR_KINDS),
        reason: z.string(),
        since: z.int(),
      }),
    ),
    /** Providers that are not healthy. */
    troubles: z.array(providerHealthSchema().extend({ provider: z.string() })).optional(),
    waiting_requests: z.array(
      z.object({
        request_id: z.string(),
        model: z.string(),
        target: z.string().nullable(),
        waiting_ms: z.int(),
      }),
    ),
    /** Set if there are several account pools and some did not answer. The counts omit their accounts. */
    partial: z.boolean().optional(),
    silent_shards: z.array(z.string()).optional(),
  }) satisfies z.ZodType<QueueStatus>;

/**
 * `most`: maximum length of each list. Without it the lists are complete and may have thousands of entries. The counts are
 * always complete.
 */
const queueQuerySchema = lazyObject(() => ({ most: z.coerce.number().int().min(0).max(100_000).optional() }));

export const QUEUE_ENDPOINTS = [
  /**
   * `GET /admin/queue/status` (docs/contract/accounts.md, Queue status), with the active
   * leases, the cooldowns and the waiting requests.
   */
  adminEndpoint({
    method: "GET",
    path: "/admin/queue/status",
    summary: "Slots and waiting queue",
    query: queueQuerySchema,
    answers: jsonResponse(queueStatusSchema),
    handler: async ({ platform }, { query }) => Response.json(await platform.accounts.getStatus(query.most)),
  }),
] satisfies readonly Endpoint[];
