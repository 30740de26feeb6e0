import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import type { HistoryQuery, HistorySummary } from "../../../../src/core/ports/archive.ts";
import type { RecordPack } from "../../../../src/core/ports/record-packs.ts";
import type { Sql } from "../../../../src/core/storage/sql.ts";
import { PackedHistory } from "../../../../src/records/archive/packed-history.ts";
import { SqlArchive } from "../../../../src/records/archive/sql-archive.ts";
import { memoryDatabase } from "./sqlite.ts";
import { batch, write } from "./support.ts";

const EVERYTHING: HistoryQuery = { offset: 0, count: 100, q: "" };
const KEEP = 10_000;

let sql: Sql;
let now: number;
let archive: SqlArchive;
let history: PackedHistory;
beforeEach(() => {
  sql = memoryDatabase();
  now = 1_000_000;
  archive = new SqlArchive(sql, () => now);
  history = new PackedHistory(sql, archive.history, () => now);
});

let packs = 0;
const packOf = (...summaries: HistorySummary[]): RecordPack => {
  packs += 1;
  return { key: `history/${packs}`, records: summaries.map((summary, at) => ({ summary, at, bytes: 1 })) };
};
const ended = (id: string, fields: Partial<HistorySummary> = {}) => write(id, fields).summary;
const runs = (id: string, fields: Partial<HistorySummary> = {}) =>
  write(id, { status: "streaming", ...fields }, { content: `${id} so far` });
const ids = (query: Partial<HistoryQuery> = {}) =>
  history.list({ ...EVERYTHING, ...query }).items.map(({ id }) => id);

describe("the packed history", () => {
  const record = fc.record({
    status: fc.constantFrom<HistorySummary["status"]>("success", "error", "streaming"),
    status_code: fc.constantFrom(200, 429, 503),
    model: fc.constantFrom("a", "b"),
    account: fc.constantFrom("one", "two"),
    elapsed_ms: fc.nat(100),
    request_preview: fc.constantFrom("what of it", '[{"x"}]', "größe"),
    pack: fc.nat(5),
    before: fc.boolean(),
  });
  const query = fc.record(
    {
      offset: fc.nat(30),
      count: fc.integer({ min: 1, max: 12 }),
      q: fc.constantFrom("", "", "of it", '"x', "GRÖSSE", "error 429"),
      uncounted: fc.boolean(),
      filter: fc.record(
        {
          from: fc.nat(70),
          to: fc.nat(70),
          status: fc.subarray<HistorySummary["status"]>(["success", "error", "streaming"]),
          code: fc.subarray(["4xx", "200"]),
          model: fc.subarray(["a"]),
          minMs: fc.nat(100),
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: ["offset", "count", "q"] },
  );

  test("lists, counts, pages and filters as the history in single records does", () => {
    fc.assert(
      fc.property(
        fc.array(record, { maxLength: 60 }),
        fc.array(fc.nat(200), { minLength: 60, maxLength: 60 }),
        fc.array(query, { minLength: 1, maxLength: 10 }),
        (records, order, queries) => {
          const database = memoryDatabase();
          const plain = new SqlArchive(memoryDatabase(), () => now);
          const mixed = new SqlArchive(database, () => now);
          const packed = new PackedHistory(database, mixed.history, () => now);
          const retention = { version: 1, records: KEEP, captures: 0 };
          const byPack = new Map<number, HistorySummary[]>();
          for (const [n, { pack, before, ...fields }] of records.entries()) {
            // No two at the same time: their order is not promised.
            const created_at = (order[n] ?? 0) * 100 + n;
            const told = write(`id-${n}`, { ...fields, created_at, updated_at: now });
            plain.write(batch({ retention, records: [told] }));
            if (before) mixed.write(batch({ retention, records: [told] }));
            else if (fields.status === "streaming") packed.write([told], [], KEEP);
            else byPack.set(pack, [...(byPack.get(pack) ?? []), told.summary]);
          }
          const made = [...byPack.values()].map((summaries) => packOf(...summaries));
          packed.write([], made, KEEP);
          // A message that was heard, and whose sender does not know.
          packed.write(
            [],
            made.map((pack) => ({ ...pack, key: `${pack.key} again` })),
            KEEP,
          );
          for (const { filter = {}, ...asked } of queries) {
            const scaled = { ...filter };
            if (filter.from !== undefined) scaled.from = filter.from * 300;
            if (filter.to !== undefined) scaled.to = filter.to * 300;
            const one = { ...asked, filter: scaled };
            expect(packed.list(one)).toEqual(plain.listHistory(one));
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test("shows a running record with its texts, and then its outcome, once", () => {
    history.write([runs("a", { created_at: 5 })], [], KEEP);
    expect(history.read("a")).toMatchObject({ status: "streaming", prompt: "prompt", content: "a so far" });
    history.write([{ ...runs("a", { updated_at: 2_000 }), request: null, content: "more" }], [], KEEP);
    expect(history.read("a")).toMatchObject({ prompt: "prompt", content: "more" });
    history.write([runs("a")], [], KEEP);
    expect(history.read("a")).toMatchObject({ content: "more" });
    history.write([], [packOf(ended("b"), ended("a"))], KEEP);
    expect(history.read("a")).toMatchObject({ summary: { status: "success" }, place: { at: 1, bytes: 1 } });
    history.write([runs("a", { updated_at: 9_000 })], [], KEEP);
    expect(history.list(EVERYTHING)).toMatchObject({ total: 2, items: [{}, {}] });
  });

  test("is complete after a restart, except for running records", () => {
    const pack = packOf(ended("a"));
    history.write([runs("b")], [pack], KEEP);
    expect(PackedHistory.existsIn(sql)).toBe(true);
    history = new PackedHistory(sql, archive.history, () => now);
    expect(ids()).toEqual(["a"]);
    history.write([{ ...runs("b"), request: null }], [pack], KEEP);
    expect(history.list(EVERYTHING)).toMatchObject({ total: 2 });
    expect(history.read("b")).toMatchObject({ messages: "[]", content: "b so far" });
  });

  test("keeps refused requests as single records beside its limit, also when packs fill it", () => {
    const refused = Array.from({ length: 30 }, (_, n) => write(`refused_${n}`, { created_at: n }));
    history.write(refused, [packOf(ended("a"), ended("b"))], 2);
    expect(ids().toSorted()).toEqual(["a", "b", "refused_28", "refused_29"]);
    expect(history.list(EVERYTHING)).toMatchObject({ total: 4 });
    expect(history.read("refused_29")).toMatchObject({ status: "success", content: "" });
    expect(history.delete("refused_29")).toBe(true);
    history.write([write("refused_29")], [packOf(ended("c"))], 2);
    expect(ids().toSorted()).toEqual(["b", "c", "refused_28"]);
  });

  test("keeps the configured number: unpacked records are evicted first, then the oldest", () => {
    archive.write(batch({ records: [write("old"), write("older", { created_at: 1 })] }));
    history.write([], [packOf(ended("a"), ended("b"), ended("c"))], 4);
    expect(ids().sort()).toEqual(["a", "b", "c", "old"]);
    history.write([runs("r")], [packOf(ended("d", { created_at: 1 }), ended("e"))], 3);
    expect(ids().sort()).toEqual(["c", "d", "e", "r"]);
    expect(history.list(EVERYTHING).total).toBe(4);
    history.trim(1);
    expect(ids().sort()).toEqual(["e", "r"]);
    history.write([], [packOf(ended("f"))], 0);
    expect(ids().sort()).toEqual(["e", "r"]);
  });

  test("evicts packs for single records if no new packs arrive", () => {
    history.write([], [packOf(ended("a"), ended("b"), ended("c"))], 3);
    archive.write(batch({ records: [write("new"), write("newer")] }));
    history.trimPacks(3);
    expect(ids().sort()).toEqual(["c", "new", "newer"]);
  });

  test("deletes a record for good, in a pack, running or unpacked", () => {
    archive.write(batch({ records: [write("old")] }));
    history.write([runs("r")], [packOf(ended("a"), ended("b"))], KEEP);
    expect(history.placeOf("b")).toMatchObject({ at: 1, bytes: 1 });
    for (const id of ["old", "r", "b"]) expect(history.delete(id)).toBe(true);
    expect(history.delete("b")).toBe(false);
    history.write([runs("r")], [packOf(ended("r"), ended("b"))], KEEP);
    expect(ids()).toEqual(["a"]);
    expect(history.read("b")).toBeNull();
  });

  test("clears all but later packs", () => {
    archive.write(batch({ records: [write("old")] }));
    history.write([runs("r")], [packOf(ended("a"), ended("b"))], KEEP);
    const { keys } = history;
    history.write([], [packOf(ended("c"))], KEEP);
    expect(history.clear(keys)).toBe(4);
    history.write([runs("r")], [packOf(ended("r"), ended("a"))], KEEP);
    expect(ids()).toEqual(["c"]);
  });

  test("shows no record that began before it was cleared, and erases its texts", () => {
    history.write([runs("listed", { created_at: now - 9 })], [], KEEP);
    expect(history.clear(history.keys)).toBe(1);
    const cleared = now;
    now += 500;
    const mixed = packOf(ended("late", { created_at: cleared - 1 }), ended("new", { created_at: cleared }));
    const late = packOf(ended("listed", { created_at: cleared - 9 }));
    history.write([runs("runs", { created_at: cleared - 1 })], [mixed, late], KEEP);
    const behind = packOf(
      ended("late, behind", { created_at: cleared - 302 }),
      ended("new, behind", { created_at: cleared - 300 }),
    );
    history.write([], [behind], KEEP, now - 300);
    expect(history.list(EVERYTHING)).toMatchObject({ total: 2 });
    expect(ids().sort()).toEqual(["new", "new, behind"]);
    expect(history.listStrayTexts()).toEqual(
      new Map([
        [mixed.key, [{ key: mixed.key, at: 0, bytes: 1 }]],
        [late.key, null],
        [behind.key, [{ key: behind.key, at: 0, bytes: 1 }]],
      ]),
    );
    history = new PackedHistory(sql, new SqlArchive(sql, () => now).history, () => now);
    history.write([runs("again", { created_at: cleared - 1 })], [], KEEP);
    expect(history.hasRunning).toBe(false);
    expect(history.clear(history.keys)).toBe(2);
  });

  test("hides a running generation as soon as its earlier start is known", () => {
    history.clear(history.keys);
    const created_at = now - 10;
    now += 500;
    // Under way for so long that it might have begun since.
    history.write([runs("r", { created_at })], [], KEEP, now - 100);
    expect(ids()).toEqual(["r"]);
    history.write([], [packOf(ended("r", { created_at }))], KEEP, now);
    expect(history.list(EVERYTHING)).toMatchObject({ total: 0, items: [] });
    expect(history.clear(history.keys)).toBe(0);
  });

  test("clears the maximum number of records with statements below 2 MB", () => {
    const strict: Sql = {
      ...sql,
      all: (statement, ...values) => {
        for (const value of values) expect(String(value).length).toBeLessThan(2_000_000);
        return sql.all(statement, ...values);
      },
    };
    history = new PackedHistory(strict, new SqlArchive(strict, () => now).history, () => now);
    const long = "x".repeat(100);
    for (let pack = 0; pack < 150; pack += 1) {
      const summaries = Array.from({ length: 200 }, (_, n) => ended(`${long}-${pack}-${n}`));
      history.write([], [packOf(...summaries)], 100_000);
    }
    expect(history.clear(history.keys)).toBe(30_000);
    history.write([], [packOf(ended(`${long}-149-199`))], 100_000);
    expect(ids()).toEqual([]);
  });

  test("finds texts in a bucket that belong to no record", () => {
    history.write([runs("gone"), runs("b")], [packOf(ended("a"))], KEEP);
    history.delete("gone");
    expect(history.hasStrayTexts).toBe(false);
    const both = packOf(ended("gone"), ended("b"));
    history.write([], [both], KEEP);
    const again = packOf(ended("a"), ended("b"));
    history.write([], [again], KEEP);
    const off = packOf(ended("c"));
    history.write([], [off], 0);
    const expected = new Map([
      [both.key, [{ key: both.key, at: 0, bytes: 1 }]],
      [again.key, null],
      [off.key, null],
    ]);
    expect(history.listStrayTexts()).toEqual(expected);
    for (const key of expected.keys()) history.unmarkStrays(key);
    // Told once more of the very same pack, as its sender does not know that it was heard: its texts are wanted.
    history.write([], [{ ...both, records: both.records.slice(1) }], KEEP);
    expect(history.hasStrayTexts).toBe(false);
  });

  test("ends records of a lost isolate, and restores them if it returns", () => {
    history.write([runs("r", { updated_at: now })], [], KEEP);
    now += 16 * 60_000;
    history.storeLost();
    expect(history.hasRunning).toBe(false);
    expect(history.list(EVERYTHING)).toMatchObject({ total: 1, items: [{ id: "r", status: "error" }] });
    history.write([runs("r", { updated_at: now })], [], KEEP);
    expect(history.list(EVERYTHING)).toMatchObject({ total: 1, items: [{ status: "streaming" }] });
    history.write([], [packOf(ended("r"))], KEEP);
    expect(history.list(EVERYTHING)).toMatchObject({ total: 1, items: [{ status: "success" }] });
  });

  test("stores nothing of rejected records", () => {
    expect(() =>
      sql.transaction(() => {
        history.write([], [packOf(ended("a"))], KEEP);
        throw new Error("the disk is full");
      }),
    ).toThrow();
    history.invalidateCache();
    expect(ids()).toEqual([]);
    history.write([], [packOf(ended("a"))], KEEP);
    expect(ids()).toEqual(["a"]);
  });
});
