import type { Sql } from "../../../../src/core/storage/sql.ts";
import { SqlUseStore } from "../../../../src/pool/limits/sql-use-store.ts";
import { UseLedger } from "../../../../src/pool/limits/use-ledger.ts";
import type { StoredSum, StoredUse } from "../../../../src/pool/limits/use-store.ts";
import type { Choices } from "./choices.ts";
import { same, sameSum, storeTarget } from "./store-target.ts";

/** Ids of keys are texts of the configuration. */
const subjectOf = (choose: Choices) => choose.text().toWellFormed();
const sorted = <T>(values: Iterable<T>, name: (value: T) => string) =>
  [...values].sort((one, other) => (name(one) < name(other) ? -1 : 1));

interface Uses {
  readonly uses: Map<string, StoredUse>;
  readonly sums: Map<string, StoredSum>;
}

/** The rows of requests and sums. */
export const useStore = storeTarget<SqlUseStore, Uses>({
  name: "limits, rows",
  open: (sql) => new SqlUseStore(sql),
  model: () => ({ uses: new Map(), sums: new Map() }),
  operations: [
    (store, choose, { uses }) => {
      const use = {
        id: choose.id(),
        subject: subjectOf(choose),
        others: [...new Set(choose.list(3, () => subjectOf(choose)))].toSorted(),
        at: choose.time(),
        tokens: choose.sum(),
        cost: choose.sum(),
        extraTokens: choose.sum(),
        extraCost: choose.sum(),
        ended: choose.time(),
        settled: choose.once(2),
      };
      store.saveUse(use);
      uses.set(use.id, use);
    },
    (store, choose, { uses }) => {
      const id = choose.id();
      store.removeUse(id);
      uses.delete(id);
    },
    (store, choose, { uses, sums }) => {
      const horizon = choose.time();
      const folded = choose.list(4, () => ({
        subject: subjectOf(choose),
        day: choose.below(30_000),
        dayTokens: choose.sum(),
        dayCost: choose.sum(),
        month: choose.below(30_000),
        monthTokens: choose.sum(),
        monthCost: choose.sum(),
      }));
      store.fold(horizon, folded);
      for (const [id, { ended }] of uses) if (ended > 0 && ended <= horizon) uses.delete(id);
      for (const sum of folded) sums.set(sum.subject, sum);
    },
  ],
  check: (store, { uses, sums }) => {
    const id = (use: StoredUse) => use.id;
    // A set: storage returns texts with a NUL after all others.
    const loaded = Array.from(store.loadUses(), (use) => ({ ...use, others: use.others.toSorted() }));
    same("uses", sorted(loaded, id), sorted(uses.values(), id));
    const subject = (sum: StoredSum) => sum.subject;
    same("sums", sorted(store.loadSums(), subject), sorted(sums.values(), subject));
  },
});

const ORPHANS_MS = 12_000;
const LIMITS = { tokens_per_minute: 10_000, requests_per_minute: 20, max_parallel: 8, cost_per_month: 1e12 };

/** What one request may use: differences of such numbers are exact. */
const spentOf = (choose: Choices) => ({
  tokens: choose.of(0, 1, 7, 9_999, 1e12),
  cost: choose.of(0, 1, 7, 1e12, 2 ** 50),
});

/** The ledger with the database that it writes to. */
interface StoredLedger {
  readonly ledger: UseLedger;
  readonly sql: Sql;
}

const openLedger = (sql: Sql, now: () => number): StoredLedger => ({
  ledger: new UseLedger(new SqlUseStore(sql), now(), ORPHANS_MS),
  sql,
});

/** Requests are let in, begin, end and are settled; a restarted ledger says the same of each key. */
export const ledger = storeTarget<StoredLedger, { next: number }>({
  name: "limits, ledger",
  faults: false,
  forwardOnly: true,
  open: openLedger,
  model: () => ({ next: 0 }),
  operations: [
    (books, choose, model, now) => {
      const id = `use-${model.next}`;
      model.next += 1;
      const use = {
        id,
        key: subjectOf(choose),
        limits: choose.once(2) ? LIMITS : {},
        ...spentOf(choose),
      };
      if (books.ledger.reserve(use, now()) !== null) return;
      if (choose.once(4)) books.ledger.releaseReservation(id, now());
      else books.ledger.begin(id, now());
    },
    ({ ledger: books }, choose, { next }, now) => books.releaseSlot(`use-${choose.below(next + 1)}`, now()),
    ({ ledger: books }, choose, { next }, now) =>
      books.settle(`use-${choose.below(next + 1)}`, spentOf(choose), now()),
    ({ ledger: books }, choose, { next }) => books.undo(`use-${choose.below(next + 1)}`),
    ({ ledger: books }, _choose, _model, now) => void books.sweep(now()),
  ],
  check: (books, _model, now) => {
    const told = books.ledger
      .listSubjectUses(now())
      .filter(({ month }) => month.tokens !== 0 || month.cost !== 0);
    const again = new Map(
      openLedger(books.sql, now)
        .ledger.listSubjectUses(now())
        .map((use) => [use.key, use]),
    );
    for (const { key, day, month, minute } of told) {
      const other = again.get(key);
      sameSum(`${key}, requests of the minute`, other?.minute.requests ?? 0, minute.requests);
      sameSum(`${key}, tokens of the day`, other?.day.tokens ?? 0, day.tokens);
      sameSum(`${key}, cost of the month`, other?.month.cost ?? 0, month.cost);
    }
  },
});
