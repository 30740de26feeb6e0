import * as z from "zod/mini";
import { words } from "../ui/words.ts";
import { callApi } from "./client.ts";
import { numberField, textField, textListField } from "./fields.ts";

const lease = z.object({
  account: textField,
  age_ms: numberField,
  model: textField,
  request_id: textField,
  dialect: textField,
});
const cooldown = z.object({
  account: textField,
  /** The proxy that is in cooldown, together with the account; empty: only the account. */
  proxy: textField,
  kind: textField,
  reason: textField,
  failures: numberField,
  until: numberField,
});
const waiting = z.object({
  request_id: textField,
  model: textField,
  target: z.nullish(z.string()),
  waiting_ms: numberField,
});

const queueStatus = z.object({
  available: numberField,
  in_use: numberField,
  total: numberField,
  available_accounts: textListField,
  in_use_accounts: textListField,
  max_inflight_per_account: numberField,
  global_max_inflight: numberField,
  recommended_concurrency: numberField,
  waiting: numberField,
  max_queue_size: numberField,
  leases: z._default(z.array(lease), []),
  cooling: numberField,
  cooldowns: z._default(z.array(cooldown), []),
  conditions: z._default(
    z.object({
      ok: numberField,
      untested: numberField,
      failing: numberField,
      cooling: numberField,
      disabled: numberField,
    }),
    { ok: 0, untested: 0, failing: 0, cooling: 0, disabled: 0 },
  ),
  failing: z._default(z.array(z.object({ account: textField, reason: textField, at: numberField })), []),
  outages: z._default(
    z.array(
      z.object({
        /** Provider id; empty: the default provider. */
        provider: textField,
        model: textField,
        kind: textField,
        reason: textField,
        since: numberField,
      }),
    ),
    [],
  ),
  /** Providers that are not healthy, by the results of their requests. */
  troubles: z._default(
    z.array(
      z.object({
        /** Provider id; empty: the default provider. */
        provider: textField,
        /** "degraded" or "down". */
        health: textField,
        last_error: z.nullish(z.object({ reason: textField, at: numberField })),
      }),
    ),
    [],
  ),
  waiting_requests: z._default(z.array(waiting), []),
  /** Account pools that did not answer. The counts omit their accounts. */
  silent_shards: z._default(textListField, []),
});

/** Current slots and queue. The numbers cover everything; the lists contain only the first entries. */
export type QueueStatus = z.output<typeof queueStatus>;
export type Cooldown = z.output<typeof cooldown>;

/** Entries per list on screens, independent of the number of accounts. */
export const QUEUE_SHOWN = 16;

/** Conditions of accounts: the gateway's name, the label, and the tone of its badge. */
export const CONDITIONS = [
  ["ok", words.conditions.ok, "good"],
  ["failing", words.conditions.failing, "bad"],
  ["cooling", words.conditions.cooling, "warn"],
  ["untested", words.conditions.untested, ""],
  ["disabled", words.conditions.disabled, ""],
] as const;

/** `limit`: maximum entries per list; null: all entries, for callers that search the lists. */
export const readQueue = (limit: number | null, signal?: AbortSignal) =>
  callApi(
    queueStatus,
    `/admin/queue/status${limit === null ? "" : `?most=${limit}`}`,
    signal === undefined ? {} : { signal },
  );
