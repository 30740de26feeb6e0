import { describe, expect, test } from "vitest";
import {
  formatSubject,
  type LimitedSubject,
  type LimitedUse,
  parseSubject,
} from "../../../../src/core/ports/subject-limits.ts";
import { SqlUseStore } from "../../../../src/pool/limits/sql-use-store.ts";
import { UseLedger } from "../../../../src/pool/limits/use-ledger.ts";
import { memoryDatabase } from "../../records/archive/sqlite.ts";

const NOON = Date.UTC(2026, 10, 22, 12);
const sql = memoryDatabase;

const TEAM: LimitedSubject = { key: "team:core", limits: { requests_per_minute: 2, tokens_per_day: 100 } };
const FIRST: LimitedSubject = { key: "provider:one", limits: { max_parallel: 1, tokens_per_day: 1_000 } };
const SECOND: LimitedSubject = { key: "provider:two", limits: { tokens_per_day: 1_000 } };

let made = 0;
function useOf(others: readonly LimitedSubject[], tokens = 10): LimitedUse {
  made += 1;
  return { id: `u${made}`, key: "k", limits: { requests_per_minute: 50 }, others, tokens, cost: 0 };
}

function open(database = sql()) {
  const ledger = new UseLedger(new SqlUseStore(database), NOON, 12_000);
  const usedBy = (key: string, now = NOON) => ledger.listSubjectUses(now, key)[0];
  return { database, ledger, usedBy };
}

describe("a request with several subjects", () => {
  test("counts once for each of them, also after a restart", () => {
    const { ledger, database } = open();
    const use = useOf([TEAM, FIRST]);
    expect(ledger.reserve(use, NOON)).toBeNull();
    ledger.begin(use.id, NOON);
    ledger.releaseSlot(use.id, NOON);
    ledger.settle(use.id, { tokens: 25, cost: 4 }, NOON);
    for (const { usedBy } of [
      { usedBy: (key: string) => ledger.listSubjectUses(NOON, key)[0] },
      open(database),
    ]) {
      for (const key of ["k", "team:core", "provider:one"]) {
        expect(usedBy(key)).toEqual({
          key,
          parallel: 0,
          minute: { requests: 1, tokens: 25 },
          day: { tokens: 25, cost: 4 },
          month: { tokens: 25, cost: 4 },
        });
      }
    }
  });

  test("is in the sums of each after its minute", () => {
    const { ledger, database } = open();
    const use = useOf([TEAM]);
    ledger.reserve(use, NOON);
    ledger.begin(use.id, NOON);
    ledger.settle(use.id, { tokens: 7, cost: 0 }, NOON);
    expect(ledger.sweep(NOON + 61_000)).toBe(false);
    expect(database.all("select * from key_use_other")).toEqual([]);
    const { usedBy } = open(database);
    expect(usedBy("team:core")?.day.tokens).toBe(7);
    expect(usedBy("k")?.day.tokens).toBe(7);
  });

  test("is refused by an exhausted one, and then counts for none", () => {
    const { ledger, usedBy } = open();
    for (let request = 0; request < 2; request += 1) {
      const use = useOf([TEAM]);
      ledger.reserve(use, NOON);
      ledger.begin(use.id, NOON);
    }
    expect(ledger.reserve(useOf([TEAM]), NOON)).toMatchObject({
      subject: "team:core",
      limit: "requests_per_minute",
      max: 2,
    });
    expect(usedBy("k")?.minute.requests).toBe(2);
    expect(usedBy("team:core")?.parallel).toBe(2);
  });

  test("states the smallest remaining minute", () => {
    const { ledger } = open();
    const use = useOf([TEAM]);
    ledger.reserve(use, NOON);
    expect(ledger.getLimitState(use, NOON).requests).toMatchObject({ limit: 2, remaining: 1 });
  });
});

describe("a request that goes to another provider", () => {
  const begin = () => {
    const opened = open();
    const use = useOf([TEAM, FIRST]);
    opened.ledger.reserve(use, NOON);
    opened.ledger.begin(use.id, NOON);
    opened.ledger.releaseSlot(use.id, NOON);
    return { ...opened, use };
  };

  test("moves its tokens, and leaves its attempt in the minute", () => {
    const { ledger, use, usedBy, database } = begin();
    expect(ledger.reserve({ ...use, others: [TEAM, SECOND] }, NOON)).toBeNull();
    ledger.begin(use.id, NOON);
    ledger.settle(use.id, { tokens: 30, cost: 0 }, NOON);
    expect(usedBy("provider:one")).toMatchObject({
      parallel: 0,
      minute: { requests: 1, tokens: 0 },
      day: { tokens: 0 },
    });
    expect(usedBy("provider:two")).toMatchObject({ parallel: 0, minute: { requests: 1, tokens: 30 } });
    expect(usedBy("team:core")).toMatchObject({ minute: { requests: 1, tokens: 30 }, day: { tokens: 30 } });
    expect(open(database).usedBy("provider:two")?.day.tokens).toBe(30);
  });

  test("stays with the first one if the other is exhausted", () => {
    const { ledger, use, usedBy } = begin();
    const full = { key: "provider:full", limits: { tokens_per_minute: 1 } };
    expect(ledger.reserve({ ...use, others: [TEAM, full] }, NOON)).toMatchObject({
      subject: "provider:full",
    });
    expect(usedBy("provider:full")?.minute).toEqual({ requests: 0, tokens: 0 });
    expect(usedBy("provider:one")?.parallel).toBe(1);
  });

  test("does not count for a provider without a slot for it", () => {
    const { ledger, use, usedBy } = begin();
    ledger.reserve({ ...use, others: [TEAM, SECOND] }, NOON);
    ledger.releaseReservation(use.id, NOON);
    ledger.settle(use.id, { tokens: 0, cost: 0 }, NOON);
    expect(usedBy("provider:two")).toMatchObject({ parallel: 0, minute: { requests: 0, tokens: 0 } });
    expect(usedBy("team:core")).toMatchObject({ parallel: 0, minute: { requests: 1 } });
  });
});

test.each([
  ["key", "plain"],
  ["key", "team:core"],
  ["team", "core"],
  ["tag", "a:b"],
] as const)("the name of the %s %s is unambiguous", (kind, id) => {
  expect(parseSubject(formatSubject(kind, id))).toEqual({ kind, id });
});
