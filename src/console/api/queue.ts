import * as z from "zod/mini";
import { call } from "./client.ts";
import { number, text, texts } from "./fields.ts";

const lease = z.object({ account: text, age_ms: number, model: text, request_id: text, dialect: text });
const cooldown = z.object({
  account: text,
  /** The proxy that is in cooldown, together with the account; empty: only the account. */
  proxy: text,
  kind: text,
  reason: text,
  failures: number,
  until: number,
});
const waiting = z.object({
  request_id: text,
  model: text,
  target: z.nullish(z.string()),
  waiting_ms: number,
});

const queueStatus = z.object({
  available: number,
  in_use: number,
  total: number,
  available_accounts: texts,
  in_use_accounts: texts,
  max_inflight_per_account: number,
  global_max_inflight: number,
  recommended_concurrency: number,
  waiting: number,
  max_queue_size: number,
  leases: z._default(z.array(lease), []),
  cooling: number,
  cooldowns: z._default(z.array(cooldown), []),
  conditions: z._default(
    z.object({ ok: number, untested: number, failing: number, cooling: number, disabled: number }),
    { ok: 0, untested: 0, failing: 0, cooling: 0, disabled: 0 },
  ),
  failing: z._default(z.array(z.object({ account: text, reason: text, at: number })), []),
  outages: z._default(
    z.array(
      z.object({
        /** Provider id; empty: the default provider. */
        provider: text,
        model: text,
        kind: text,
        reason: text,
        since: number,
      }),
    ),
    [],
  ),
  waiting_requests: z._default(z.array(waiting), []),
  /** Account pools that did not answer. The counts omit their accounts. */
  silent_shards: z._default(texts, []),
});

/** Current slots and queue. The numbers cover everything; the lists contain only the first entries. */
export type QueueStatus = z.output<typeof queueStatus>;
export type Cooldown = z.output<typeof cooldown>;

/** Entries per list on screens, independent of the number of accounts. */
export const QUEUE_SHOWN = 16;

/** Conditions of accounts: the gateway's name, the label, and the tone of its badge. */
export const CONDITIONS = [
  ["ok", "ok", "good"],
  ["failing", "failing", "bad"],
  ["cooling", "cooling down", "warn"],
  ["untested", "not tested", ""],
  ["disabled", "disabled", ""],
] as const;

/** `most`: maximum entries per list; null: all entries, for callers that search the lists. */
export const readQueue = (most: number | null, signal?: AbortSignal) =>
  call(
    queueStatus,
    `/admin/queue/status${most === null ? "" : `?most=${most}`}`,
    signal === undefined ? {} : { signal },
  );
