import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LimitedUse, SubjectLimits } from "../../../../src/core/ports/subject-limits.ts";
import type { Sql } from "../../../../src/core/storage/sql.ts";
import { SqlUseStore } from "../../../../src/pool/limits/sql-use-store.ts";
import { RELEASE_GRACE_MS, UseLedger } from "../../../../src/pool/limits/use-ledger.ts";
import "../../../support/properties.ts";
import { memoryDatabase } from "../../records/archive/sqlite.ts";
import { LedgerModel, ORPHANS } from "./ledger-model.ts";

const NOON = Date.UTC(2026, 10, 22, 12);

/** A ledger on a database that survives its restarts. */
class LedgerOnDatabase {
  now = NOON;
  readonly sql: Sql = memoryDatabase();
  ledger = this.#open();
  #uses = 0;

  #open(): UseLedger {
    return new UseLedger(new SqlUseStore(this.sql), this.now, ORPHANS);
  }

  restart(): void {
    this.ledger = this.#open();
  }

  use(limits: SubjectLimits, more: Partial<LimitedUse> = {}): LimitedUse {
    this.#uses += 1;
    return { id: `use-${this.#uses}`, key: "k", limits, tokens: 0, cost: 0, ...more };
  }

  /** Lets a request in that begins at once; null: it was refused. */
  run(limits: SubjectLimits, more: Partial<LimitedUse> = {}): string | null {
    const use = this.use(limits, more);
    if (this.ledger.reserve(use, this.now) !== null) return null;
    this.ledger.begin(use.id, this.now);
    return use.id;
  }

  end(id: string, tokens = 0, cost = 0): void {
    this.ledger.releaseSlot(id, this.now);
    this.ledger.settle(id, { tokens, cost }, this.now);
  }

  get state() {
    return this.ledger.listSubjectUses(this.now).find(({ key }) => key === "k");
  }
}

describe("a minute", () => {
  test("never has more requests than allowed at any time, also after restarts", () => {
    const persisted = new LedgerOnDatabase();
    const limits = { requests_per_minute: 60 };
    const begun: number[] = [];
    for (let step = 0; step < 4_000; step += 1) {
      persisted.now += (step * 7_919) % 97;
      if (step % 500 === 250) persisted.restart();
      if (step % 90 === 0) persisted.ledger.sweep(persisted.now);
      const id = persisted.run(limits);
      if (id === null) continue;
      begun.push(persisted.now);
      persisted.end(id);
    }
    const most = Math.max(...begun.map((at) => begun.filter((it) => it >= at && it < at + 60_000).length));
    expect(most).toBe(60);
    // And it gives what it has: nobody waits for the next full minute.
    expect(begun.length).toBeGreaterThan(60 * Math.floor((persisted.now - NOON) / 60_000));
  });

  test("states in a refusal when the next request is allowed", () => {
    const persisted = new LedgerOnDatabase();
    const limits = { requests_per_minute: 2 };
    persisted.run(limits);
    persisted.now += 10_000;
    persisted.run(limits);
    expect(persisted.ledger.reserve(persisted.use(limits), persisted.now)).toEqual({
      limit: "requests_per_minute",
      max: 2,
      used: 2,
      resetMs: 50_000,
    });
    persisted.now += 49_999;
    expect(persisted.run(limits)).toBeNull();
    persisted.now += 1;
    expect(persisted.run(limits)).not.toBeNull();
  });

  test("counts tokens by an estimate, and then by the real usage", () => {
    const persisted = new LedgerOnDatabase();
    const limits = { tokens_per_minute: 1_000 };
    const first = persisted.run(limits, { tokens: 600 });
    expect(persisted.ledger.reserve(persisted.use(limits, { tokens: 500 }), persisted.now)).toMatchObject({
      limit: "tokens_per_minute",
      used: 600,
      resetMs: 60_000,
    });
    persisted.end(first ?? "", 100);
    expect(persisted.run(limits, { tokens: 500 })).not.toBeNull();
    expect(persisted.state?.minute).toEqual({ requests: 2, tokens: 600 });
  });

  test("counts usage beyond the estimate from the end of the answer", () => {
    const persisted = new LedgerOnDatabase();
    const limits = { tokens_per_minute: 1_000 };
    const id = persisted.run(limits, { tokens: 100 });
    persisted.now += 90_000;
    persisted.end(id ?? "", 1_500);
    expect(persisted.ledger.reserve(persisted.use(limits, { tokens: 1 }), persisted.now)).toMatchObject({
      used: 1_400,
      resetMs: 60_000,
    });
    persisted.restart();
    expect(persisted.state?.minute.tokens).toBe(1_400);
    persisted.now += 60_000;
    expect(persisted.run(limits, { tokens: 1 })).not.toBeNull();
  });

  test("rejects a request for good if it needs more than a whole minute", () => {
    const persisted = new LedgerOnDatabase();
    const limits = { tokens_per_minute: 10 };
    expect(persisted.ledger.reserve(persisted.use(limits, { tokens: 11 }), persisted.now)).toMatchObject({
      resetMs: null,
    });
  });

  test("starts when a waiting request begins its work", () => {
    const persisted = new LedgerOnDatabase();
    const limits = { requests_per_minute: 1 };
    const use = persisted.use(limits);
    persisted.ledger.reserve(use, persisted.now);
    persisted.ledger.recordWaiting(use.id);
    persisted.now += 59_000;
    expect(persisted.run(limits)).toBeNull();
    persisted.ledger.begin(use.id, persisted.now);
    persisted.now += 59_999;
    expect(persisted.run(limits)).toBeNull();
    persisted.now += 1;
    expect(persisted.run(limits)).not.toBeNull();
  });

  test("blocks a key for at most a minute if the clock is set back", () => {
    const persisted = new LedgerOnDatabase();
    const limits = { requests_per_minute: 1 };
    persisted.run(limits);
    persisted.now -= 3_600_000;
    expect(persisted.run(limits)).toBeNull();
    persisted.now += 60_000;
    expect(persisted.run(limits)).not.toBeNull();
  });
});

describe("requests at once", () => {
  test("make room when they end, also without a report of their usage", () => {
    const persisted = new LedgerOnDatabase();
    const limits = { max_parallel: 2 };
    const first = persisted.run(limits);
    const second = persisted.run(limits);
    expect(persisted.run(limits)).toBeNull();
    persisted.end(first ?? "");
    expect(persisted.run(limits)).not.toBeNull();
    persisted.ledger.releaseSlot(second ?? "", persisted.now);
    expect(persisted.run(limits)).toBeNull();
    persisted.now += RELEASE_GRACE_MS;
    expect(persisted.run(limits)).not.toBeNull();
  });

  test("after a restart those count that are taken over, and the others until their leases end", () => {
    const persisted = new LedgerOnDatabase();
    const limits = { max_parallel: 2 };
    const first = persisted.run(limits);
    persisted.run(limits);
    persisted.restart();
    persisted.ledger.resume(first ?? "");
    expect(persisted.run(limits)).toBeNull();
    persisted.now += ORPHANS;
    expect(persisted.run(limits)).not.toBeNull();
    expect(persisted.run(limits)).toBeNull();
  });
});

describe("a request counts once", () => {
  test("however many attempts it takes", () => {
    const persisted = new LedgerOnDatabase();
    const limits = { requests_per_minute: 1, max_parallel: 1 };
    const use = persisted.use(limits);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(persisted.ledger.reserve(use, persisted.now)).toBeNull();
      persisted.ledger.begin(use.id, persisted.now);
      persisted.now += 5_000;
      persisted.ledger.releaseSlot(use.id, persisted.now);
    }
    expect(persisted.state).toMatchObject({ parallel: 1, minute: { requests: 1 } });
  });

  test("although its end is reported twice, with a restart in between", () => {
    const persisted = new LedgerOnDatabase();
    const id = persisted.run({}, { tokens: 10, cost: 5 }) ?? "";
    persisted.end(id, 30, 7);
    persisted.restart();
    persisted.end(id, 30, 7);
    expect(persisted.state).toMatchObject({ parallel: 0, day: { tokens: 30, cost: 7 } });
  });

  test("but not if it is refused or leaves while it waits", () => {
    const persisted = new LedgerOnDatabase();
    const refused = persisted.use({}, { tokens: 10, cost: 5 });
    persisted.ledger.reserve(refused, persisted.now);
    persisted.ledger.releaseReservation(refused.id, persisted.now);
    const left = persisted.use({}, { tokens: 10, cost: 5 });
    persisted.ledger.reserve(left, persisted.now);
    persisted.ledger.recordWaiting(left.id);
    persisted.ledger.releaseReservation(left.id, persisted.now);
    const nothing = { parallel: 0, minute: { requests: 0, tokens: 0 }, day: { tokens: 0, cost: 0 } };
    expect(persisted.state).toMatchObject(nothing);
    persisted.restart();
    expect(persisted.state).toBeUndefined();
  });

  test("but not if it was never served, also after midnight", () => {
    const persisted = new LedgerOnDatabase();
    const one = persisted.use({}, { tokens: 10, cost: 5 });
    persisted.ledger.reserve(one, persisted.now);
    persisted.ledger.recordWaiting(one.id);
    persisted.now += 13 * 3_600_000;
    persisted.ledger.beginRemote(one.id, persisted.now);
    expect(persisted.state).toMatchObject({ parallel: 1, day: { tokens: 10 } });
    persisted.ledger.undo(one.id);
    const nothing = { parallel: 0, minute: { requests: 0, tokens: 0 }, day: { tokens: 0, cost: 0 } };
    expect(persisted.state).toMatchObject(nothing);
    const settled = persisted.run({}, { tokens: 10 }) ?? "";
    persisted.end(settled, 7);
    persisted.ledger.undo(settled);
    persisted.restart();
    expect(persisted.state).toMatchObject({ parallel: 0, day: { tokens: 7 }, month: { tokens: 7 } });
  });
});

describe("budgets", () => {
  test("200 requests at once against a budget for 100: 100 get in", () => {
    const persisted = new LedgerOnDatabase();
    const limits = { tokens_per_day: 100 * 50 };
    const ids = Array.from({ length: 200 }, () => persisted.run(limits, { tokens: 50 }));
    expect(ids.filter((id) => id !== null)).toHaveLength(100);
    for (const id of ids) if (id !== null) persisted.end(id, 50);
    expect(persisted.run(limits, { tokens: 50 })).toBeNull();
  });

  test.each([
    ["tokens_per_day", { tokens: 10 }, 12 * 3_600_000],
    ["cost_per_day", { cost: 10 }, 12 * 3_600_000],
    ["tokens_per_month", { tokens: 10 }, 8.5 * 86_400_000],
    ["cost_per_month", { cost: 10 }, 8.5 * 86_400_000],
  ] as const)("%s ends with its day or month, in UTC", (limit, spent, resetMs) => {
    const persisted = new LedgerOnDatabase();
    const limits = { [limit]: 10 };
    persisted.end(persisted.run(limits, spent) ?? "", 10, 10);
    expect(persisted.ledger.reserve(persisted.use(limits), persisted.now)).toEqual({
      limit,
      max: 10,
      used: 10,
      resetMs,
    });
    persisted.now += resetMs - 1;
    persisted.ledger.sweep(persisted.now);
    persisted.restart();
    expect(persisted.run(limits)).toBeNull();
    persisted.now += 1;
    expect(persisted.run(limits)).not.toBeNull();
  });

  test("ended requests are added up, so that the store does not grow", () => {
    const persisted = new LedgerOnDatabase();
    for (let requests = 0; requests < 500; requests += 1) {
      persisted.end(persisted.run({}, { tokens: 3 }) ?? "", 3, 1);
      persisted.now += 1_000;
      if (requests % 10 === 0) persisted.ledger.sweep(persisted.now);
    }
    expect(persisted.sql.all("select count(*) as n from key_use")[0]?.["n"]).toBeLessThan(75);
    persisted.now += 61_000;
    expect(persisted.ledger.sweep(persisted.now)).toBe(false);
    expect(persisted.sql.all("select count(*) as n from key_use")[0]?.["n"]).toBe(0);
    persisted.restart();
    expect(persisted.state?.day).toEqual({ tokens: 1_500, cost: 500 });
  });
});

/** Mulberry32. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const KEYS = ["k", "l"];
const LIMITS: readonly SubjectLimits[] = [
  {},
  { requests_per_minute: 5 },
  { tokens_per_minute: 200, max_parallel: 3 },
  { tokens_per_day: 800, cost_per_month: 5_000 },
  { cost_per_day: 300, tokens_per_month: 9_000, requests_per_minute: 20 },
];
const RUNS = Number(process.env["LEDGER_SEEDS"] ?? 6);

describe("the ledger agrees with its model", () => {
  test.each(Array.from({ length: RUNS }, (_, run) => run + 1))("seed %i", (seed) => {
    const next = random(seed);
    const below = (n: number) => Math.floor(next() * n);
    const persisted = new LedgerOnDatabase();
    // A run crosses midnights, and the end of a month.
    persisted.now = Date.UTC(2026, 10, 30, 23, 50);
    const model = new LedgerModel();
    const live: string[] = [];
    const holds = new Map<string, number>();
    const reserved = new Map<string, LimitedUse>();
    const pick = () => live[below(live.length)];
    const grant = (id: string) => {
      persisted.ledger.begin(id, persisted.now);
      model.begin(id, persisted.now);
      holds.set(id, (holds.get(id) ?? 0) + 1);
    };
    for (let step = 0; step < 400; step += 1) {
      const what = below(100);
      const id = pick();
      if (what < 30) {
        const again = id !== undefined && below(4) === 0 ? reserved.get(id) : undefined;
        const use =
          again ??
          persisted.use(LIMITS[below(LIMITS.length)] ?? {}, {
            key: KEYS[below(KEYS.length)] ?? "k",
            tokens: below(60),
            cost: below(60),
          });
        const broken = model.broken(use.key, use.limits, use.tokens, persisted.now);
        const known = model.uses.some((it) => it.id === use.id && !it.forgotten);
        const refusal = persisted.ledger.reserve(use, persisted.now);
        if (known) expect(refusal).toBeNull();
        else if (refusal === null) expect([...broken]).toEqual([]);
        else expect(broken).toContain(refusal.limit);
        if (refusal === null) {
          model.take(use, persisted.now);
          reserved.set(use.id, use);
          if (!live.includes(use.id)) live.push(use.id);
          if (below(3) > 0) grant(use.id);
          else if (below(2) === 0) persisted.ledger.recordWaiting(use.id);
          else {
            persisted.ledger.releaseReservation(use.id, persisted.now);
            model.giveBack(use.id, persisted.now);
          }
        }
      } else if (what < 40 && id !== undefined) {
        if (model.uses.some((it) => it.id === id && it.at === 0 && it.endsAt === Number.POSITIVE_INFINITY))
          grant(id);
      } else if (what < 55 && id !== undefined) {
        if ((holds.get(id) ?? 0) > 0) {
          holds.set(id, (holds.get(id) ?? 0) - 1);
          persisted.ledger.releaseSlot(id, persisted.now);
          model.leave(id, persisted.now);
        }
      } else if (what < 70 && id !== undefined) {
        const spent = { tokens: below(120), cost: below(120) };
        persisted.ledger.settle(id, spent, persisted.now);
        model.settle(id, spent, persisted.now);
      } else if (what < 74) {
        persisted.restart();
        model.restart(persisted.now);
        for (const [held, slots] of holds) {
          const resumes = slots > 0 && below(2) === 0;
          holds.set(held, resumes ? 1 : 0);
          if (!resumes) continue;
          persisted.ledger.resume(held);
          model.resumed(held);
        }
      } else if (what < 80) {
        persisted.ledger.sweep(persisted.now);
        model.sweep(persisted.now);
      } else persisted.now += below(10) === 0 ? below(7_200_000) : below(9_000);
      for (const key of KEYS) {
        const expected = model.of(key, persisted.now);
        const found = persisted.ledger.listSubjectUses(persisted.now).find((use) => use.key === key);
        if (found !== undefined) expect(found).toEqual(expected);
        else expect(expected).toMatchObject({ parallel: 0, minute: { requests: 0 } });
      }
    }
  });
});

describe("amounts of any size", () => {
  test("are counted equally before and after a restart, and are never infinite", () => {
    const amount = fc.oneof(fc.nat(), fc.constantFrom(2 ** 53, 2 ** 53 - 1, 1e16, 1e30, 1e40));
    fc.assert(
      fc.property(fc.array(fc.tuple(amount, amount, fc.boolean()), { maxLength: 20 }), (uses) => {
        const persisted = new LedgerOnDatabase();
        const limits = { cost_per_month: 1e60 };
        let largest = 0;
        for (const [expected, cost, isSwept] of uses) {
          const id = persisted.run(limits, { cost: expected, tokens: 5 });
          if (id === null) throw new Error("nothing has used up the limit");
          persisted.end(id, 7, cost);
          persisted.now += 61_000;
          if (isSwept) persisted.ledger.sweep(persisted.now);
          largest = Math.max(largest, expected, cost);
          const before = persisted.state?.month.cost ?? 0;
          persisted.restart();
          const after = persisted.state?.month.cost ?? 0;
          expect(Number.isFinite(after)).toBe(true);
          expect(Math.abs(after - before)).toBeLessThanOrEqual(largest * 1e-12);
        }
      }),
    );
  });
});
