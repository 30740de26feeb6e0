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
class Book {
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
  test("never holds more requests than allowed, however it lies, over restarts too", () => {
    const book = new Book();
    const limits = { requests_per_minute: 60 };
    const begun: number[] = [];
    for (let step = 0; step < 4_000; step += 1) {
      book.now += (step * 7_919) % 97;
      if (step % 500 === 250) book.restart();
      if (step % 90 === 0) book.ledger.sweep(book.now);
      const id = book.run(limits);
      if (id === null) continue;
      begun.push(book.now);
      book.end(id);
    }
    const most = Math.max(...begun.map((at) => begun.filter((it) => it >= at && it < at + 60_000).length));
    expect(most).toBe(60);
    // And it gives what it has: nobody waits for the next full minute.
    expect(begun.length).toBeGreaterThan(60 * Math.floor((book.now - NOON) / 60_000));
  });

  test("a refusal says when there is room again", () => {
    const book = new Book();
    const limits = { requests_per_minute: 2 };
    book.run(limits);
    book.now += 10_000;
    book.run(limits);
    expect(book.ledger.reserve(book.use(limits), book.now)).toEqual({
      limit: "requests_per_minute",
      max: 2,
      used: 2,
      resetMs: 50_000,
    });
    book.now += 49_999;
    expect(book.run(limits)).toBeNull();
    book.now += 1;
    expect(book.run(limits)).not.toBeNull();
  });

  test("tokens are reserved with an estimate, and settled", () => {
    const book = new Book();
    const limits = { tokens_per_minute: 1_000 };
    const first = book.run(limits, { tokens: 600 });
    expect(book.ledger.reserve(book.use(limits, { tokens: 500 }), book.now)).toMatchObject({
      limit: "tokens_per_minute",
      used: 600,
      resetMs: 60_000,
    });
    book.end(first ?? "", 100);
    expect(book.run(limits, { tokens: 500 })).not.toBeNull();
    expect(book.state?.minute).toEqual({ requests: 2, tokens: 600 });
  });

  test("what a long answer used beyond its estimate counts from its end", () => {
    const book = new Book();
    const limits = { tokens_per_minute: 1_000 };
    const id = book.run(limits, { tokens: 100 });
    book.now += 90_000;
    book.end(id ?? "", 1_500);
    expect(book.ledger.reserve(book.use(limits, { tokens: 1 }), book.now)).toMatchObject({
      used: 1_400,
      resetMs: 60_000,
    });
    book.restart();
    expect(book.state?.minute.tokens).toBe(1_400);
    book.now += 60_000;
    expect(book.run(limits, { tokens: 1 })).not.toBeNull();
  });

  test("a request that asks for more than a minute holds hears that it never fits", () => {
    const book = new Book();
    const limits = { tokens_per_minute: 10 };
    expect(book.ledger.reserve(book.use(limits, { tokens: 11 }), book.now)).toMatchObject({ resetMs: null });
  });

  test("the minute of a request that waited begins with its work", () => {
    const book = new Book();
    const limits = { requests_per_minute: 1 };
    const use = book.use(limits);
    book.ledger.reserve(use, book.now);
    book.ledger.recordWaiting(use.id);
    book.now += 59_000;
    expect(book.run(limits)).toBeNull();
    book.ledger.begin(use.id, book.now);
    book.now += 59_999;
    expect(book.run(limits)).toBeNull();
    book.now += 1;
    expect(book.run(limits)).not.toBeNull();
  });

  test("a clock that is set back locks nobody out for longer than a minute", () => {
    const book = new Book();
    const limits = { requests_per_minute: 1 };
    book.run(limits);
    book.now -= 3_600_000;
    expect(book.run(limits)).toBeNull();
    book.now += 60_000;
    expect(book.run(limits)).not.toBeNull();
  });
});

describe("requests at once", () => {
  test("one that ends makes room, also when nobody says how it ended", () => {
    const book = new Book();
    const limits = { max_parallel: 2 };
    const first = book.run(limits);
    const second = book.run(limits);
    expect(book.run(limits)).toBeNull();
    book.end(first ?? "");
    expect(book.run(limits)).not.toBeNull();
    book.ledger.releaseSlot(second ?? "", book.now);
    expect(book.run(limits)).toBeNull();
    book.now += RELEASE_GRACE_MS;
    expect(book.run(limits)).not.toBeNull();
  });

  test("after a restart those count that are taken over, the others for as long as they may live", () => {
    const book = new Book();
    const limits = { max_parallel: 2 };
    const first = book.run(limits);
    book.run(limits);
    book.restart();
    book.ledger.resume(first ?? "");
    expect(book.run(limits)).toBeNull();
    book.now += ORPHANS;
    expect(book.run(limits)).not.toBeNull();
    expect(book.run(limits)).toBeNull();
  });
});

describe("a request counts once", () => {
  test("however many attempts it takes", () => {
    const book = new Book();
    const limits = { requests_per_minute: 1, max_parallel: 1 };
    const use = book.use(limits);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(book.ledger.reserve(use, book.now)).toBeNull();
      book.ledger.begin(use.id, book.now);
      book.now += 5_000;
      book.ledger.releaseSlot(use.id, book.now);
    }
    expect(book.state).toMatchObject({ parallel: 1, minute: { requests: 1 } });
  });

  test("although its end is told twice, and the pool restarted in between", () => {
    const book = new Book();
    const id = book.run({}, { tokens: 10, cost: 5 }) ?? "";
    book.end(id, 30, 7);
    book.restart();
    book.end(id, 30, 7);
    expect(book.state).toMatchObject({ parallel: 0, day: { tokens: 30, cost: 7 } });
  });

  test("and not at all when it is refused or leaves while it waits", () => {
    const book = new Book();
    const refused = book.use({}, { tokens: 10, cost: 5 });
    book.ledger.reserve(refused, book.now);
    book.ledger.releaseReservation(refused.id, book.now);
    const left = book.use({}, { tokens: 10, cost: 5 });
    book.ledger.reserve(left, book.now);
    book.ledger.recordWaiting(left.id);
    book.ledger.releaseReservation(left.id, book.now);
    const nothing = { parallel: 0, minute: { requests: 0, tokens: 0 }, day: { tokens: 0, cost: 0 } };
    expect(book.state).toMatchObject(nothing);
    book.restart();
    expect(book.state).toBeUndefined();
  });

  test("and not at all when it was said to begin but never served, on another day than it came, too", () => {
    const book = new Book();
    const one = book.use({}, { tokens: 10, cost: 5 });
    book.ledger.reserve(one, book.now);
    book.ledger.recordWaiting(one.id);
    book.now += 13 * 3_600_000;
    book.ledger.beginRemote(one.id, book.now);
    expect(book.state).toMatchObject({ parallel: 1, day: { tokens: 10 } });
    book.ledger.undo(one.id);
    const nothing = { parallel: 0, minute: { requests: 0, tokens: 0 }, day: { tokens: 0, cost: 0 } };
    expect(book.state).toMatchObject(nothing);
    const settled = book.run({}, { tokens: 10 }) ?? "";
    book.end(settled, 7);
    book.ledger.undo(settled);
    book.restart();
    expect(book.state).toMatchObject({ parallel: 0, day: { tokens: 7 }, month: { tokens: 7 } });
  });
});

describe("budgets", () => {
  test("200 requests at once against a budget for 100: 100 get in", () => {
    const book = new Book();
    const limits = { tokens_per_day: 100 * 50 };
    const ids = Array.from({ length: 200 }, () => book.run(limits, { tokens: 50 }));
    expect(ids.filter((id) => id !== null)).toHaveLength(100);
    for (const id of ids) if (id !== null) book.end(id, 50);
    expect(book.run(limits, { tokens: 50 })).toBeNull();
  });

  test.each([
    ["tokens_per_day", { tokens: 10 }, 12 * 3_600_000],
    ["cost_per_day", { cost: 10 }, 12 * 3_600_000],
    ["tokens_per_month", { tokens: 10 }, 8.5 * 86_400_000],
    ["cost_per_month", { cost: 10 }, 8.5 * 86_400_000],
  ] as const)("%s ends with its day or month, in UTC", (limit, spent, resetMs) => {
    const book = new Book();
    const limits = { [limit]: 10 };
    book.end(book.run(limits, spent) ?? "", 10, 10);
    expect(book.ledger.reserve(book.use(limits), book.now)).toEqual({ limit, max: 10, used: 10, resetMs });
    book.now += resetMs - 1;
    book.ledger.sweep(book.now);
    book.restart();
    expect(book.run(limits)).toBeNull();
    book.now += 1;
    expect(book.run(limits)).not.toBeNull();
  });

  test("what is done with is added up: the store does not grow with the requests", () => {
    const book = new Book();
    for (let requests = 0; requests < 500; requests += 1) {
      book.end(book.run({}, { tokens: 3 }) ?? "", 3, 1);
      book.now += 1_000;
      if (requests % 10 === 0) book.ledger.sweep(book.now);
    }
    expect(book.sql.all("select count(*) as n from key_use")[0]?.["n"]).toBeLessThan(75);
    book.now += 61_000;
    expect(book.ledger.sweep(book.now)).toBe(false);
    expect(book.sql.all("select count(*) as n from key_use")[0]?.["n"]).toBe(0);
    book.restart();
    expect(book.state?.day).toEqual({ tokens: 1_500, cost: 500 });
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
    const book = new Book();
    // A run crosses midnights, and the end of a month.
    book.now = Date.UTC(2026, 10, 30, 23, 50);
    const model = new LedgerModel();
    const live: string[] = [];
    const holds = new Map<string, number>();
    const reserved = new Map<string, LimitedUse>();
    const pick = () => live[below(live.length)];
    const grant = (id: string) => {
      book.ledger.begin(id, book.now);
      model.begin(id, book.now);
      holds.set(id, (holds.get(id) ?? 0) + 1);
    };
    for (let step = 0; step < 400; step += 1) {
      const what = below(100);
      const id = pick();
      if (what < 30) {
        const again = id !== undefined && below(4) === 0 ? reserved.get(id) : undefined;
        const use =
          again ??
          book.use(LIMITS[below(LIMITS.length)] ?? {}, {
            key: KEYS[below(KEYS.length)] ?? "k",
            tokens: below(60),
            cost: below(60),
          });
        const broken = model.broken(use.key, use.limits, use.tokens, book.now);
        const known = model.uses.some((it) => it.id === use.id && !it.forgotten);
        const refusal = book.ledger.reserve(use, book.now);
        if (known) expect(refusal).toBeNull();
        else if (refusal === null) expect([...broken]).toEqual([]);
        else expect(broken).toContain(refusal.limit);
        if (refusal === null) {
          model.take(use, book.now);
          reserved.set(use.id, use);
          if (!live.includes(use.id)) live.push(use.id);
          if (below(3) > 0) grant(use.id);
          else if (below(2) === 0) book.ledger.recordWaiting(use.id);
          else {
            book.ledger.releaseReservation(use.id, book.now);
            model.giveBack(use.id, book.now);
          }
        }
      } else if (what < 40 && id !== undefined) {
        if (model.uses.some((it) => it.id === id && it.at === 0 && it.endsAt === Number.POSITIVE_INFINITY))
          grant(id);
      } else if (what < 55 && id !== undefined) {
        if ((holds.get(id) ?? 0) > 0) {
          holds.set(id, (holds.get(id) ?? 0) - 1);
          book.ledger.releaseSlot(id, book.now);
          model.leave(id, book.now);
        }
      } else if (what < 70 && id !== undefined) {
        const spent = { tokens: below(120), cost: below(120) };
        book.ledger.settle(id, spent, book.now);
        model.settle(id, spent, book.now);
      } else if (what < 74) {
        book.restart();
        model.restart(book.now);
        for (const [held, slots] of holds) {
          const resumes = slots > 0 && below(2) === 0;
          holds.set(held, resumes ? 1 : 0);
          if (!resumes) continue;
          book.ledger.resume(held);
          model.resumed(held);
        }
      } else if (what < 80) {
        book.ledger.sweep(book.now);
        model.sweep(book.now);
      } else book.now += below(10) === 0 ? below(7_200_000) : below(9_000);
      for (const key of KEYS) {
        const expected = model.of(key, book.now);
        const found = book.ledger.listSubjectUses(book.now).find((use) => use.key === key);
        if (found !== undefined) expect(found).toEqual(expected);
        else expect(expected).toMatchObject({ parallel: 0, minute: { requests: 0 } });
      }
    }
  });
});

describe("amounts of any size", () => {
  test("are counted alike before and after a restart, and are never infinite", () => {
    const amount = fc.oneof(fc.nat(), fc.constantFrom(2 ** 53, 2 ** 53 - 1, 1e16, 1e30, 1e40));
    fc.assert(
      fc.property(fc.array(fc.tuple(amount, amount, fc.boolean()), { maxLength: 20 }), (uses) => {
        const book = new Book();
        const limits = { cost_per_month: 1e60 };
        let largest = 0;
        for (const [expected, cost, isSwept] of uses) {
          const id = book.run(limits, { cost: expected, tokens: 5 });
          if (id === null) throw new Error("nothing has used up the limit");
          book.end(id, 7, cost);
          book.now += 61_000;
          if (isSwept) book.ledger.sweep(book.now);
          largest = Math.max(largest, expected, cost);
          const before = book.state?.month.cost ?? 0;
          book.restart();
          const after = book.state?.month.cost ?? 0;
          expect(Number.isFinite(after)).toBe(true);
          expect(Math.abs(after - before)).toBeLessThanOrEqual(largest * 1e-12);
        }
      }),
    );
  });
});
