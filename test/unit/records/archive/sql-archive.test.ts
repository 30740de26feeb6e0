import { beforeEach, describe, expect, it } from "vitest";
import type { HistoryFilter, HistoryQuery } from "../../../../src/core/ports/archive.ts";
import type { Sql } from "../../../../src/core/storage/sql.ts";
import { buildCondition, buildRecordsQuery } from "../../../../src/records/archive/history-filter.ts";
import { SqlArchive } from "../../../../src/records/archive/sql-archive.ts";
import { memoryDatabase } from "./sqlite.ts";
import { batch, capture, write } from "./support.ts";

const everything: HistoryQuery = { offset: 0, count: 1_000, q: "" };

describe("the history", () => {
  let now = 0;
  let sql: Sql;
  let archive: SqlArchive;
  beforeEach(() => {
    now = 1_000_000;
    sql = memoryDatabase();
    archive = new SqlArchive(sql, () => now);
  });
  const ids = (query = everything) => archive.listHistory(query).items.map(({ id }) => id);
  const put = (...records: ReturnType<typeof write>[]) => archive.write(batch({ records }));

  it("lists the newest request first, for any order of arrival", () => {
    put(write("b", { created_at: 200 }), write("d", { created_at: 400 }));
    put(write("a", { created_at: 100 }), write("c", { created_at: 300 }));
    expect(ids()).toEqual(["d", "c", "b", "a"]);
  });

  it("keeps at most its limit of finished records after the next message", () => {
    const { retention } = batch({});
    const few = { ...retention, version: retention.version + 1, records: 2 };
    for (const id of ["a", "b", "c"]) archive.writeEnded(few, [write(id, { created_at: id.charCodeAt(0) })]);
    expect(ids()).toEqual(["c", "b", "a"]);
    archive.write(batch({ retention: few }));
    expect(ids()).toEqual(["c", "b"]);
  });

  it("keeps refused requests beside its limit of generations", () => {
    const { retention } = batch({});
    const limited = { ...retention, version: retention.version + 1, records: 50 };
    const many = (prefix: string, count: number, from: number) =>
      Array.from({ length: count }, (_, n) => write(`${prefix}${n}`, { created_at: from + n }));
    archive.write(batch({ retention: limited, records: many("hist_", 50, 100) }));
    archive.write(batch({ retention: limited, records: many("refused_", 500, 10_000) }));
    const stored = ids();
    expect(stored.filter((id) => id.startsWith("hist_"))).toHaveLength(50);
    expect(stored.filter((id) => id.startsWith("refused_"))).toEqual(
      Array.from({ length: 20 }, (_, n) => `refused_${499 - n}`),
    );
    archive.write(batch({ retention: limited, records: many("hist_more_", 60, 20_000) }));
    expect(ids().filter((id) => id.startsWith("refused_"))).toHaveLength(20);
    expect(ids()).toHaveLength(70);
    archive.applyRetention({ ...limited, version: limited.version + 1, records: 0 });
    expect(ids()).toEqual([]);
  });

  it("replaces the record of refused requests only by a newer one", () => {
    const refusals = (count: number, updated_at: number) =>
      write("refused_a", { refusals: count, updated_at, status: "error", status_code: 400 });
    put(refusals(1, 1_000));
    put(refusals(7, 3_000));
    put(refusals(4, 2_000));
    expect(archive.readHistory("refused_a")).toMatchObject({ refusals: 7 });
  });

  it("rejects a record that ends after it was deleted or the history was cleared", () => {
    const { retention } = batch({});
    put(write("deleted", { status: "streaming" }));
    archive.deleteHistory("deleted");
    archive.writeEnded(retention, [write("deleted")]);
    archive.clearHistory();
    archive.writeEnded(retention, [write("cleared", { created_at: now - 10 })]);
    archive.writeEnded(retention, [write("later", { created_at: now + 1 })]);
    expect(ids()).toEqual(["later"]);
  });

  it("counts nothing for a page without a total", () => {
    put(
      ...["a", "b", "c"].map((id, place) =>
        write(id, { created_at: 100 * place, request_preview: `text ${id}` }),
      ),
    );
    const asked: string[] = [];
    const watching: Sql = {
      all: (statement, ...values) => {
        asked.push(statement);
        return sql.all(statement, ...values);
      },
      transaction: (work) => sql.transaction(work),
    };
    const watched = new SqlArchive(watching, () => now);
    asked.length = 0;
    for (const q of ["", "text"]) {
      const { items } = watched.listHistory({ offset: 0, count: 2, q, uncounted: true });
      expect(items.map(({ id }) => id)).toEqual(["c", "b"]);
    }
    expect(asked).toHaveLength(2);
    expect(asked.filter((statement) => statement.includes("count("))).toEqual([]);
  });

  it("needs few statements for all new records of a message", () => {
    let statements = 0;
    const counting: Sql = {
      all: (statement, ...values) => {
        statements += 1;
        return sql.all(statement, ...values);
      },
      transaction: (work) => sql.transaction(work),
    };
    const counted = new SqlArchive(counting, () => now);
    const records = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) =>
        write(`r${from + n}`, {}, { reasoning: "Hm.", content: "Hi." }),
      );
    counted.write(batch({ retention: { version: 1, records: 1_000, captures: 0 }, records: records(0, 1) }));
    statements = 0;
    counted.write(batch({ retention: { version: 1, records: 1_000, captures: 0 }, records: records(1, 50) }));
    expect(statements).toBeLessThanOrEqual(20);
    expect(archive.readHistory("r50")).toMatchObject({ prompt: "prompt", reasoning: "Hm.", content: "Hi." });
  });

  it("keeps the place of a refreshed record, and stores its changes", () => {
    put(write("a", { created_at: 100, status: "streaming", updated_at: 1_000_000 }, { content: "Hel" }));
    put(write("b", { created_at: 200 }));
    put(
      write(
        "a",
        { created_at: 100, updated_at: 1_000_500, status: "success" },
        { request: null, content: "Hello" },
      ),
    );
    expect(ids()).toEqual(["b", "a"]);
    expect(archive.readHistory("a")).toMatchObject({ status: "success", content: "Hello", prompt: "prompt" });
  });

  it("accepts a message with new, known, deleted and repeated records", () => {
    put(write("known", { status: "streaming", updated_at: 1_000 }), write("gone"));
    archive.deleteHistory("gone");
    put(
      write("new", { created_at: 5_000, status: "streaming" }, { content: "He" }),
      write("known", { updated_at: 2_000 }, { request: null, content: "Known." }),
      write("gone", { updated_at: 9_000 }),
      write("new", { created_at: 5_000, updated_at: 2_000 }, { request: null, content: "Hello." }),
    );
    expect(ids()).toEqual(["new", "known"]);
    expect(archive.readHistory("new")).toMatchObject({
      status: "success",
      content: "Hello.",
      prompt: "prompt",
    });
    expect(archive.readHistory("known")).toMatchObject({ status: "success", content: "Known." });
  });

  it("ignores outdated changes", () => {
    put(write("a", { updated_at: 2_000, status: "success" }, { content: "all of it" }));
    put(write("a", { updated_at: 1_500, status: "streaming" }, { content: "all" }));
    expect(archive.readHistory("a")).toMatchObject({ status: "success", content: "all of it" });
  });

  it("stores an outcome although a clock was set back, and no later change", () => {
    put(write("a", { updated_at: 9_000, status: "streaming" }, { content: "all" }));
    put(write("a", { updated_at: 2_000, status: "success" }, { content: "all of it" }));
    put(write("a", { updated_at: 9_500, status: "streaming" }, { content: "all" }));
    expect(archive.readHistory("a")).toMatchObject({ status: "success", content: "all of it" });
  });

  it("keeps as many records as its retention allows", () => {
    put(...Array.from({ length: 25 }, (_, n) => write(`r${n}`, { created_at: n })));
    expect(ids()).toEqual(["r24", "r23", "r22", "r21", "r20", "r19", "r18", "r17", "r16", "r15"]);
    expect(archive.readHistory("r3")).toBeNull();
    archive.applyRetention({ version: 2, records: 2, captures: 5 });
    expect(ids()).toEqual(["r24", "r23"]);
    expect(sql.all("select count(distinct owner) as n from piece")).toEqual([{ n: 2 }]);
  });

  it("does not return to a replaced retention", () => {
    archive.applyRetention({ version: 2, records: 0, captures: 5 });
    put(write("a"));
    expect(ids()).toEqual([]);
  });

  it("deletes a record for good, although its generation still runs", () => {
    put(write("a", { status: "streaming", updated_at: 1_000_000 }), write("b"));
    expect(archive.deleteHistory("a")).toBe(true);
    expect(archive.deleteHistory("a")).toBe(false);
    put(write("a", { status: "success", updated_at: 1_000_001 }));
    expect(ids()).toEqual(["b"]);
    expect(archive.clearHistory()).toBe(1);
    put(write("b", { updated_at: 9_000_000 }));
    expect(ids()).toEqual([]);
  });

  describe("once cleared", () => {
    const runs = (id: string, created_at: number) => write(id, { created_at, status: "streaming" });

    it("contains only records that began later", () => {
      put(runs("listed", now - 20));
      expect(archive.clearHistory()).toBe(1);
      now += 500;
      const cleared = now - 500;
      put(
        runs("listed", cleared - 20),
        write("ended", { created_at: cleared - 1 }),
        runs("runs", cleared - 1),
      );
      put(write("runs", { created_at: cleared - 1, updated_at: now }), write("new", { created_at: cleared }));
      expect(ids()).toEqual(["new"]);
      expect(archive.readHistory("ended")).toBeNull();
      expect(archive.clearHistory()).toBe(1);
      expect(sql.all("select count(*) as n from piece")).toEqual([{ n: 0 }]);
    });

    it("stays so after a restart, and longer than deletions", () => {
      const cleared = now;
      archive.clearHistory();
      now += 24 * 3_600_000;
      archive = new SqlArchive(sql, () => now);
      put(runs("long", cleared - 1), write("new", { created_at: cleared }));
      put(write("long", { created_at: cleared - 1, updated_at: now }));
      expect(ids()).toEqual(["new"]);
    });

    it.each([-3_600_000, -40, 40, 3_600_000])(
      "uses the age of a record, not the sender's clock, which is off by %i ms",
      (off) => {
        const cleared = now;
        archive.clearHistory();
        now += 500;
        const records = [-2, 0].map((ms) => write(`began ${ms}`, { created_at: cleared + ms + off }));
        archive.write(batch({ sentAt: now + off, records }));
        expect(ids()).toEqual(["began 0"]);
      },
    );

    it("accepts delayed messages about later records, and keeps rejecting earlier ones", () => {
      const cleared = now;
      archive.clearHistory();
      now += 500;
      archive.write(batch({ sentAt: now - 2, records: [runs("runs", cleared - 10), runs("new", cleared)] }));
      expect(ids()).toEqual(["new"]);
      archive.write(
        batch({
          sentAt: now - 400,
          records: [runs("runs", cleared - 10), write("new", { created_at: cleared })],
        }),
      );
      expect(ids()).toEqual(["new"]);
    });

    it("loses nothing if its clock was ahead and is set back", () => {
      now += 3_600_000;
      archive.clearHistory();
      archive.clearCaptures();
      now -= 3_600_000;
      archive.write(
        batch({ records: [write("a", { created_at: now })], captures: [capture("a", { at: now })] }),
      );
      expect(ids()).toEqual(["a"]);
      archive.clearHistory();
      now -= 60_000;
      // By the time that anything comes the clock has passed the mark again: the start has seen that it was ahead.
      archive = new SqlArchive(sql, () => now);
      const created_at = now;
      now += 120_000;
      put(write("b", { created_at }));
      expect(ids()).toEqual(["b"]);
      expect(archive.listCaptures().map(({ id }) => id)).toEqual(["a"]);
    });
  });

  it("finds records by text, without wildcards", () => {
    put(write("a", { source: "billing" }), write("b", { request_preview: "100% sure" }), write("c"));
    expect(ids({ ...everything, q: "BILLING" })).toEqual(["a"]);
    expect(ids({ ...everything, q: "100%" })).toEqual(["b"]);
    expect(ids({ ...everything, q: "1_0%" })).toEqual([]);
    expect(ids({ ...everything, q: "request_preview" })).toEqual([]);
    expect(ids({ ...everything, q: "x".repeat(60_000) })).toEqual([]);
    expect(archive.listHistory({ offset: 1, count: 1, q: "" })).toMatchObject({
      total: 3,
      items: [{ id: "b" }],
    });
  });

  it("finds records by status, by code, and by the account that failed", () => {
    put(
      write("a", { status: "error", status_code: 429, created_at: 4290 }),
      write("b", { status: "cancelled", status_code: 499 }),
      write("c", { tried: [{ account: "broken@sandbox.test", reason: "auth", message: "no", at: 0 }] }),
    );
    expect(ids({ ...everything, q: "429" })).toEqual(["a"]);
    expect(ids({ ...everything, q: "Error 4" })).toEqual(["a"]);
    expect(ids({ ...everything, q: "cancelled" })).toEqual(["b"]);
    expect(ids({ ...everything, q: "broken@" })).toEqual(["c"]);
  });

  const keep = (records: number, version = 2) => archive.applyRetention({ version, records, captures: 5 });

  it("finds the codes of errors as people read them, and the reasons of attempts", () => {
    const attempt = { cause: "", provider: "", account: "one@x", model: "m", at: 1, ms: 2, status: 429 };
    put(
      write("a", { created_at: 1, status: "error", status_code: 503, error_code: "upstream_error" }),
      write("b", { created_at: 2, upstream_attempts: [{ ...attempt, reason: "rate_limited" }] }),
      write("c", { created_at: 3, tags: ["nightly_run"] }),
    );
    const search = (q: string) => ids({ ...everything, q });
    expect(search("Upstream error")).toEqual(["a"]);
    expect(search("upstream_error")).toEqual(["a"]);
    expect(search("error 503")).toEqual(["a"]);
    expect(search("rate limited")).toEqual(["b"]);
    expect(search("nightly_run")).toEqual(["c"]);
  });

  // Of many records the filters' facts have an index.
  describe.each([10, 100_000])("filtered, of %j stored records", (records) => {
    const found = (filter: HistoryFilter) => ids({ ...everything, filter });
    beforeEach(() => {
      keep(records);
      put(
        write("a", { created_at: 1, key: "key_1", status: "error", status_code: 429, elapsed_ms: 5 }),
        write("b", {
          created_at: 2,
          key: "key_2",
          requested_model: "house",
          prompt_tokens: 90,
          completion_tokens: 10,
        }),
        write("c", {
          created_at: 3,
          dialect: "messages",
          source: "cron",
          account: "two@sandbox.test",
          team: "red",
          path: "native",
        }),
        write("d", {
          created_at: 4,
          status: "error",
          status_code: 503,
          error_code: "upstream_error",
          tried: [{ account: "two@sandbox.test", provider: "engine", reason: "auth", message: "no", at: 0 }],
        }),
      );
    });

    it.each<[HistoryFilter, string[]]>([
      [{}, ["d", "c", "b", "a"]],
      [{ from: 2, to: 4 }, ["c", "b"]],
      [{ status: ["error"] }, ["d", "a"]],
      [{ status: ["error", "success"], from: 3 }, ["d", "c"]],
      [{ code: ["429", "503"] }, ["d", "a"]],
      [{ code: ["5xx"] }, ["d"]],
      [{ code: ["upstream_error", "429"] }, ["d", "a"]],
      [{ team: ["red"] }, ["c"]],
      [{ path: ["native"] }, ["c"]],
      [{ provider: ["engine"] }, ["d"]],
      [{ provider: ["default"] }, ["d", "c", "b", "a"]],
      [{ provider: ["default"], team: ["red"] }, ["c"]],
      [{ key: ["key_1", "key_2"] }, ["b", "a"]],
      [{ model: ["house"] }, ["b"]],
      [{ model: ["provider-v4-flash"], to: 3 }, ["b", "a"]],
      [{ account: ["two@sandbox.test"] }, ["d", "c"]],
      [{ dialect: ["messages"], source: ["cron"] }, ["c"]],
      [{ minMs: 1, maxMs: 5 }, ["a"]],
      [{ minTokens: 100, maxTokens: 100 }, ["b"]],
      [{ status: [], code: [] }, ["d", "c", "b", "a"]],
      [{ account: ["' or 1=1 --"] }, []],
    ])("by %j", (filter, wanted) => {
      expect(found(filter)).toEqual(wanted);
      expect(archive.listHistory({ ...everything, count: 0, filter }).total).toBe(wanted.length);
    });

    it("by the default provider, which is named only in records with several providers", () => {
      put(
        write("e", { created_at: 5, provider: "default" }),
        write("f", { created_at: 6, provider: "engine" }),
        write("g", { created_at: 7, model: "", refusals: 1 }),
      );
      expect(found({ provider: ["default"], from: 5 })).toEqual(["e"]);
      expect(found({ provider: ["default", "engine"], from: 4 })).toEqual(["f", "e", "d"]);
    });

    it("by failures, which include lost generations", () => {
      put(write("e", { created_at: 5, status: "streaming", updated_at: now }));
      expect(found({ status: ["streaming"] })).toEqual(["e"]);
      now += 16 * 60_000;
      expect(found({ status: ["streaming"] })).toEqual([]);
      expect(found({ status: ["error"], from: 5 })).toEqual(["e"]);
    });

    it("by any number of choices", () => {
      const many = (...wanted: string[]) => [
        ...Array.from({ length: 200 }, (_, index) => `other ${index}`),
        ...wanted,
      ];
      const filter: HistoryFilter = {
        status: ["error", ...Array.from({ length: 200 }, () => "success" as const)],
        code: [...Array.from({ length: 200 }, (_, index) => String(500 + index)), "2xx"],
        key: many("", "key_1"),
        model: many("provider-v4-flash"),
        account: many("two@sandbox.test"),
        dialect: many("messages", "chat"),
        source: many("cron", "api", ""),
      };
      const { values } = buildCondition(filter, "text", now);
      expect(values.length).toBeLessThan(80);
      for (const name of ["status", "code", "model", "account"] as const) {
        expect(found({ [name]: filter[name] })).toContain("d");
      }
    });
  });

  it.each<HistoryFilter>([
    { from: 5 },
    { status: ["error"], code: ["4xx", "500"] },
    {
      key: ["key_1"],
      model: ["house"],
      account: ["two@sandbox.test"],
      dialect: ["messages"],
      source: ["cron"],
    },
    { minMs: 1, maxMs: 2, minTokens: 3, maxTokens: 4 },
    { provider: ["default"] },
    { team: ["red"], path: ["native"], provider: ["engine"], code: ["upstream_error"] },
  ])("reads no summary of what does not fit %j: 100,000 records are filtered by an index alone", (filter) => {
    keep(100_000);
    const condition = buildCondition(filter, "", now);
    const count = `select count(*) as n ${buildRecordsQuery(condition, true)}`;
    const plan = sql.all(`explain query plan ${count}`, ...condition.values);
    expect(plan[0]?.["detail"]).toContain("USING COVERING INDEX record_fields");
  });

  it("has an index for its filters only if it stores many records", () => {
    const indexes = () =>
      sql.all("select name from sqlite_master where name in ('record_fields', 'record_facts')").length;
    put(write("a"));
    expect(indexes()).toBe(0);
    keep(5_000);
    expect(indexes()).toBe(1);
    archive = new SqlArchive(sql, () => now);
    expect(indexes()).toBe(1);
    keep(200, 3);
    expect(indexes()).toBe(0);
    // An earlier version made one for all.
    for (const name of ["record_fields", "record_facts"]) {
      sql.all(`create index ${name} on record(created, seq, updated)`);
    }
    archive = new SqlArchive(sql, () => now);
    expect(indexes()).toBe(0);
    expect(ids({ ...everything, filter: { status: ["success"] } })).toEqual(["a"]);
  });

  it("shows that a generation was lost", () => {
    put(write("a", { status: "streaming", updated_at: now }));
    expect(archive.readHistory("a")?.status).toBe("streaming");
    now += 16 * 60_000;
    expect(archive.readHistory("a")).toMatchObject({
      status: "error",
      error: "the generation was interrupted",
    });
  });

  it("stores long texts unchanged, with any characters where they are split", () => {
    for (const shift of ["", "x"]) {
      const content = shift + "\u{1f600}".repeat(500_000);
      put(write(`long${shift}`, {}, { content }));
      expect(archive.readHistory(`long${shift}`)?.content === content).toBe(true);
    }
  });

  it("stores a message completely or not at all", () => {
    const broken = write("b", { created_at: Number.NaN });
    const message = batch({ records: [write("a"), broken], metrics: { polygate_http_requests_total: 1 } });
    expect(() => archive.write(message)).toThrow();
    expect(ids()).toEqual([]);
    expect(archive.readMetrics()).toEqual({});
  });

  it("keeps the metrics if callers invent model names", () => {
    const invented = Array.from({ length: 6_000 }, (_, index) => [
      `polygate_generations_total{model="${index}"}`,
      1,
    ]);
    archive.write(batch({ metrics: { polygate_requests_total: 3 } }));
    archive.write(batch({ metrics: Object.fromEntries(invented) }));
    expect(archive.readMetrics()).toMatchObject({ polygate_requests_total: 3 });
  });

  it("is complete after a restart", () => {
    put(write("a", { source: "here" }, { content: "text" }));
    archive.write(batch({ metrics: { polygate_requests_total: 3 } }));
    const again = new SqlArchive(sql, () => now);
    again.write(batch({ metrics: { polygate_requests_total: 2 } }));
    expect(again.readHistory("a")).toMatchObject({ source: "here", content: "text" });
    expect(again.readMetrics()).toEqual({ polygate_requests_total: 5 });
  });
});
