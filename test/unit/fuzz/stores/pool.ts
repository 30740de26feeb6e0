import { parseFailureKind } from "../../../../src/pool/health/circuit-breaker.ts";
import type { LeaseTerms, Starts, StoredAccount } from "../../../../src/pool/storage/pool-store.ts";
import { SqlPoolStore } from "../../../../src/pool/storage/sql-pool-store.ts";
import type { Choices } from "./choices.ts";
import { same, storeTarget } from "./store-target.ts";

interface Model {
  readonly marks: Map<string, number>;
  readonly accounts: Map<string, StoredAccount>;
  readonly isolates: Set<string>;
  readonly reclaimed: Map<string, number>;
  droppedBefore: number;
  readonly health: Map<number, string>;
  starts: Starts;
  terms: LeaseTerms | null;
}

const cooldownOf = (choose: Choices) => {
  const kind = parseFailureKind(choose.of("rate_limited", "server_error", "token_expired", "unreachable"));
  return kind === null
    ? null
    : { kind, reason: choose.text(), failures: choose.below(2_000), until: choose.time() };
};

const byName = <T>(entries: Iterable<readonly [string | number, T]>) =>
  [...entries].sort(([one], [other]) => (String(one) < String(other) ? -1 : 1));

/** Identifiers of accounts are chosen by people, and wellformed: they come in JSON that was stored as text. */
const nameOf = (choose: Choices) => choose.text().toWellFormed();

export const poolStore = storeTarget<SqlPoolStore, Model>({
  name: "pool",
  open: (sql) => new SqlPoolStore(sql),
  flush: (store) => store.flush(),
  model: () => ({
    marks: new Map(),
    accounts: new Map(),
    isolates: new Set(),
    reclaimed: new Map(),
    droppedBefore: 0,
    health: new Map(),
    starts: { last: 0, oldestLive: 0 },
    terms: null,
  }),
  operations: [
    (store, choose, { marks }) => {
      const id = nameOf(choose);
      const slots = choose.below(4);
      store.setHighWaterMark(id, slots);
      if (slots === 0) marks.delete(id);
      else marks.set(id, slots);
    },
    (store, choose, { marks }) => {
      if (!choose.once(5)) return;
      store.clearHighWaterMarks();
      marks.clear();
    },
    (store, choose, model) => {
      const starts = { last: choose.below(2 ** 52), oldestLive: choose.below(2 ** 52) };
      store.saveStarts(starts);
      model.starts = starts;
    },
    (store, choose, model) => {
      const terms = { boot: choose.text(), claimMs: choose.below(2 ** 31), awaitMs: choose.below(2 ** 31) };
      store.saveTerms(terms);
      model.terms = terms;
    },
    (store, choose, { isolates }) => {
      const id = choose.id();
      if (choose.once(3)) {
        store.removeIsolate(id);
        isolates.delete(id);
      } else {
        store.addIsolate(id);
        isolates.add(id);
      }
    },
    (store, choose, { reclaimed }) => {
      const id = choose.id();
      const at = choose.time();
      store.addReclaimed(id, at);
      reclaimed.set(id, at);
    },
    (store, choose, model) => {
      const { reclaimed } = model;
      // Time goes on: what is dropped later includes what was dropped before.
      const before = Math.max(model.droppedBefore, choose.time());
      model.droppedBefore = before;
      store.dropReclaimed(before);
      for (const [id, at] of reclaimed) if (at < before) reclaimed.delete(id);
    },
    (store, choose, { accounts }) => {
      const account = {
        id: nameOf(choose),
        token: choose.text(),
        expiresAt: choose.time(),
        issuedAt: choose.time(),
        configuredToken: choose.text(),
        refreshToken: choose.text(),
        testStatus: choose.text(),
        proven: choose.once(2),
        cooldown: cooldownOf(choose),
      };
      store.saveAccount(account);
      accounts.set(account.id, account);
    },
    (store, choose, { accounts }) => {
      const id = nameOf(choose);
      store.removeAccount(id);
      accounts.delete(id);
    },
    (store, choose, { health }) => {
      const part = choose.below(5);
      const text = JSON.stringify({ [choose.text()]: choose.number() });
      if (choose.once(3)) {
        store.removeHealth(part);
        health.delete(part);
      } else {
        store.saveHealth(part, text);
        health.set(part, text);
      }
    },
  ],
  check: (store, model) => {
    same("marks", byName(store.loadHighWaterMarks()), byName(model.marks));
    same("starts", store.loadStarts(), model.starts);
    same("terms", store.loadTerms(), model.terms);
    same("isolates", [...store.loadIsolates()].sort(), [...model.isolates].sort());
    same("reclaimed", byName(store.loadReclaimed()), byName(model.reclaimed));
    same("health", byName(store.loadHealth()), byName(model.health));
    const named = (accounts: Iterable<StoredAccount>) =>
      byName([...accounts].map((one) => [one.id, one] as const));
    same("accounts", named(store.loadAccounts()), named(model.accounts.values()));
  },
});
