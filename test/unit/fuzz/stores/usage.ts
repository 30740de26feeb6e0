import {
  USAGE_DIMENSIONS,
  USAGE_SUMS,
  type UsageDelta,
  type UsageMessage,
} from "../../../../src/core/ports/usage.ts";
import { parseSums } from "../../../../src/records/usage/reader.ts";
import { SqlUsage } from "../../../../src/records/usage/sql-usage.ts";
import type { Choices } from "./choices.ts";
import { sameSum, storeTarget } from "./store-target.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Messages are repeated for days; what is older may not be taken any more. */
const REPEATED_MS = 6 * DAY_MS;
const SENDERS = ["isolate-1", "isolate-2", "isolate-3"] as const;

interface Model {
  /** What was taken, by key. */
  readonly keys: Map<string, Record<string, number>>;
  readonly total: Record<string, number>;
  /** The last message of each sender, and whether it was taken. */
  readonly last: Map<string, { readonly message: UsageMessage; taken: boolean }>;
  sequence: number;
}

const bucketsOf = (choose: Choices) =>
  Object.fromEntries(choose.list(3, () => [String(choose.below(221)), choose.below(5)]));

function deltaOf(choose: Choices, now: number): UsageDelta {
  const sums = Object.fromEntries(USAGE_SUMS.map((name) => [name, choose.sum()]));
  const names = Object.fromEntries(USAGE_DIMENSIONS.map((name) => [name, choose.text()]));
  const dimensions = {
    ...{ key: "", requested_model: "", model: "", provider: "", account: "", dialect: "", operation: "" },
    ...{ team: "", user: "", tag: "" },
    ...names,
    outcome: choose.of("success", "error", "cancelled", "refused"),
  };
  return {
    ...parseSums(undefined),
    ...sums,
    hour: Math.floor(now / HOUR_MS) * HOUR_MS,
    last: now,
    dimensions,
    first_token: bucketsOf(choose),
    duration: bucketsOf(choose),
    queue: bucketsOf(choose),
  };
}

const activityOf = (choose: Choices, now: number) => ({
  minute: Math.floor(now / 60_000) * 60_000,
  outcome: choose.of("success", "error", "cancelled", "refused"),
  status: choose.of(200, 429, 500),
  code: choose.text(),
  requests: choose.sum(),
  prompt_tokens: choose.sum(),
  cached_tokens: choose.sum(),
  completion_tokens: choose.sum(),
  cost_nano: choose.sum(),
  busy_ms: choose.sum(),
  waited_ms: choose.sum(),
  first_token: bucketsOf(choose),
  duration: bucketsOf(choose),
});

function note({ keys, total }: Model, { deltas }: UsageMessage): void {
  for (const delta of deltas) {
    const key = delta.dimensions.key.toWellFormed();
    const sums = keys.get(key) ?? {};
    keys.set(key, sums);
    for (const name of USAGE_SUMS) {
      sums[name] = (sums[name] ?? 0) + delta[name];
      total[name] = (total[name] ?? 0) + delta[name];
    }
  }
}

/** Messages of isolates are counted once, however often they come. */
export const usageStore = storeTarget<SqlUsage, Model>({
  name: "usage",
  open: (sql, now) => new SqlUsage(sql, now),
  model: () => ({ keys: new Map(), total: {}, last: new Map(), sequence: 0 }),
  operations: [
    (store, choose, model, now) => {
      const sender = choose.of(...SENDERS);
      const known = model.last.get(sender);
      // A sender makes no other message before one was taken.
      let sent = known;
      if (
        known === undefined ||
        (known.taken && !choose.once(4)) ||
        known.message.made < now() - REPEATED_MS
      ) {
        model.sequence += 1;
        const deltas = choose.list(4, () => deltaOf(choose, now()));
        const activity = choose.list(3, () => activityOf(choose, now()));
        const message = { sender, sequence: model.sequence, made: now(), deltas, activity };
        sent = { message, taken: false };
        model.last.set(sender, sent);
      }
      if (sent === undefined) return;
      store.write(sent.message);
      if (!sent.taken) note(model, sent.message);
      sent.taken = true;
    },
    (store, choose, _model, now) => {
      const day = Math.floor(now() / DAY_MS) * DAY_MS;
      store.read({
        from: day - DAY_MS,
        to: day + DAY_MS,
        granularity: choose.of("hour", "day", "total"),
        groupBy: USAGE_DIMENSIONS.filter(() => choose.once(3)),
        filters: choose.once(2) ? { key: [choose.text()], model: [choose.text(), choose.text()] } : {},
        limit: choose.of(1, 10, 10_000),
      });
    },
    (store, _choose, _model, now) => {
      const to = Math.ceil(now() / HOUR_MS) * HOUR_MS;
      store.readActivity({ from: to - 6 * HOUR_MS, to, step: 60_000 });
      store.readActivity({ from: to - 7 * DAY_MS, to, step: HOUR_MS });
    },
  ],
  check: (store, { keys, total }, now) => {
    const told = new Map(store.listKeyUsage().map((use) => [use.key, use]));
    for (const [key, sums] of keys) {
      for (const name of USAGE_SUMS)
        sameSum(`${name} of ${key}`, told.get(key)?.[name] ?? 0, sums[name] ?? 0);
    }
    if (told.size !== keys.size) throw new Error(`${told.size} keys instead of ${keys.size}`);
    const day = Math.floor(now() / DAY_MS) * DAY_MS;
    const all = { granularity: "total", groupBy: [], filters: {}, limit: 10 } as const;
    // The longest sequence sets the clock forward by less than what is kept, but for the rarest ones.
    const { totals } = store.read({ ...all, from: day - 700 * DAY_MS, to: day + 2 * DAY_MS });
    if ((totals.requests ?? 0) > (total["requests"] ?? 0) * (1 + 1e-9))
      throw new Error("more requests than there were");
  },
});
