import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { EditNote } from "../../../../src/core/config/snapshot.ts";
import { toUtf8 } from "../../../../src/core/encoding/bytes.ts";
import type { JobState } from "../../../../src/core/ports/page-jobs.ts";
import type { RecordPack } from "../../../../src/core/ports/record-packs.ts";
import { ExpiringStore } from "../../../../src/core/storage/expiring-store.ts";
import { parseVariables } from "../../../../src/core/variables/parse-variables.ts";
import { Watcher } from "../../../../src/operator/alerts/watcher.ts";
import { SqlAuditLog } from "../../../../src/operator/audit/sql-audit-log.ts";
import { createInProcessJobs } from "../../../../src/pages/jobs/in-process-jobs.ts";
import { createInProcessPool } from "../../../../src/pool/in-process-pool.ts";
import { PackedHistory } from "../../../../src/records/archive/packed-history.ts";
import { SqlArchive } from "../../../../src/records/archive/sql-archive.ts";
import { SqlUsage } from "../../../../src/records/usage/sql-usage.ts";
import { UsageTally } from "../../../../src/records/usage/usage-tally.ts";
import { createConfigurationClient } from "../../../../src/runtime/deno/configuration.ts";
import { RateLimits } from "../../../../src/runtime/deno/rate-limits.ts";
import { createWatchStateStore } from "../../../../src/runtime/deno/watch-state-store.ts";
import { emptyConfig } from "../../../support/config.ts";
import { attempt, FAILURE_KINDS, FailingSql, failEachStep, retryOnce } from "../../../support/failing-sql.ts";
import { memoryPlatform } from "../../../support/memory-platform.ts";
import { MemoryPoolStore } from "../../../support/pool-simulator/memory-pool-store.ts";
import { batch, capture, write } from "../../records/archive/support.ts";
import { used } from "../../records/usage/support.ts";

const NOON = Date.UTC(2026, 10, 22, 12);
const SECRET = `whsec_${btoa("a secret of 32 bytes for a test.")}`;
const DAY_MS = 86_400_000;
/** For hundreds of runs. */
const PATIENT_MS = 120_000;

beforeEach(() => {
  vi.useFakeTimers({ now: NOON });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Plays a scenario with each of its steps failing: it has to end as it does when nothing fails. */
function endsTheSame(name: string, scenario: (sql: FailingSql) => unknown): void {
  test.each(FAILURE_KINDS)(
    `${name} ends the same when a step fails %s`,
    async (kind) => {
      const expected = await scenario(new FailingSql());
      const failed = await failEachStep(kind, async (sql) => {
        vi.clearAllTimers();
        vi.setSystemTime(NOON);
        expect(await scenario(sql)).toEqual(expected);
      });
      expect(failed.length).toBeGreaterThan(5);
    },
    PATIENT_MS,
  );
}

endsTheSame("usage", async (sql) => {
  let now = NOON;
  const usage = await retryOnce(() => new SqlUsage(sql, () => now));
  const tally = new UsageTally();
  const priced = { config: emptyConfig() };
  for (const [at, model] of [
    [NOON, "one"],
    [NOON + 1_000, "two"],
    [NOON + 40 * DAY_MS, "one"],
    [NOON + 800 * DAY_MS, "three"],
  ] as const) {
    now = at;
    tally.count(used({ model }), at);
    tally.count(used({ model, key: "other" }), at);
    await retryOnce(() => tally.send(usage, priced, at));
  }
  const read = (from: SqlUsage) =>
    from.read({
      from: NOON - (NOON % DAY_MS),
      to: NOON + 801 * DAY_MS,
      granularity: "total",
      groupBy: ["model", "key"],
      filters: {},
      limit: 100,
    });
  sql.heal();
  const reopened = new SqlUsage(sql, () => now);
  expect(read(reopened)).toEqual(read(usage));
  expect(reopened.listKeyUsage()).toEqual(usage.listKeyUsage());
  const old = sql.all("select at from usage_hour union select at from activity_minute order by at");
  return { read: read(usage), keys: usage.listKeyUsage(), old };
});

describe("the archive", () => {
  const everything = { offset: 0, count: 100, q: "" };
  const stateOf = (archive: SqlArchive) => ({
    list: archive.listHistory(everything),
    narrow: archive.listHistory({ ...everything, filter: { model: ["m2"] } }),
    record: archive.readHistory("a1"),
    captures: archive.listCaptures(),
    samples: archive.listSamples(),
    metrics: archive.readMetrics(),
  });

  endsTheSame("history, captures, samples and counts", async (sql) => {
    const archive = await retryOnce(() => new SqlArchive(sql, Date.now));
    const send = (n: number, records: number) =>
      retryOnce(() =>
        archive.write(
          batch({
            retention: { version: n, records, captures: 2 },
            records: [
              write(`a${n}`, { model: `m${n}`, created_at: NOON + n }, { content: `text ${n}` }),
              write(`b${n}`, {
                model: `m${n}`,
                status: "streaming",
                created_at: NOON + n,
                updated_at: NOON + n,
              }),
            ],
            captures: [capture(`c${n}`, { at: NOON + n, response_body: "x" })],
            metrics: { requests_total: 1 },
          }),
        ),
      );
    for (const [index, records] of [5_000, 5_000, 100, 100, 5].entries()) await send(index + 1, records);
    await retryOnce(() => archive.saveSample({ captureIds: ["c5"] }, "s", "p"));
    await retryOnce(() => archive.deleteHistory("a4"));
    await retryOnce(() => archive.endInterrupted());
    sql.heal();
    const state = stateOf(archive);
    expect(stateOf(new SqlArchive(sql, Date.now))).toEqual(state);
    await retryOnce(() => archive.clearCaptures());
    return state;
  });

  test("does not count a failed write twice", () => {
    const sql = new FailingSql();
    const archive = new SqlArchive(sql, Date.now);
    const news = batch({ retention: { version: 1, records: 2_000, captures: 0 }, metrics: { n: 1 } });
    sql.isFull = true;
    expect(() => archive.write(news)).toThrow();
    expect(archive.readMetrics()).toEqual({});
    expect(archive.listHistory({ ...everything, filter: { model: ["m"] } }).items).toEqual([]);
    sql.heal();
    archive.write(news);
    expect(archive.readMetrics()).toEqual({ n: 1 });
    expect(sql.all("select version, records from retention")).toEqual([{ version: 1, records: 2_000 }]);
  });

  endsTheSame("the history in packs", async (sql) => {
    const archive = await retryOnce(() => new SqlArchive(sql, Date.now));
    const history = await retryOnce(() => new PackedHistory(sql, archive.history, Date.now));
    const inOne = (work: () => void) =>
      retryOnce(() => {
        try {
          sql.transaction(work);
        } catch (error) {
          history.invalidateCache();
          throw error;
        }
      });
    const packOf = (key: string, ...ids: string[]): RecordPack => ({
      key,
      records: ids.map((id, at) => ({ summary: write(id, { created_at: NOON + at }).summary, at, bytes: 1 })),
    });
    const runs = (id: string) => write(id, { status: "streaming", created_at: NOON, updated_at: NOON });
    await inOne(() => history.write([runs("a"), runs("lost")], [packOf("p1", "b", "c")], 10));
    await inOne(() => history.write([], [packOf("p2", "a", "d"), packOf("p3", "b")], 10));
    await inOne(() => void history.delete("c"));
    vi.setSystemTime(NOON + 600_000);
    await inOne(() => history.storeLost());
    await inOne(() => history.write([], [packOf("p4", "e", "f")], 5));
    sql.heal();
    const state = () => [history.list(everything), [...history.listStrayTexts()], history.read("d")];
    const before = state();
    history.invalidateCache();
    expect(state()).toEqual(before);
    return before;
  });
});

endsTheSame("edits of the configuration", async (sql) => {
  const accounts = createInProcessPool(new MemoryPoolStore());
  const variables = parseVariables({}, { drivers: ["sessions"] });
  const open = async () => {
    const auditLog = new SqlAuditLog(sql);
    return { auditLog, configuration: await createConfigurationClient(sql, variables, accounts, auditLog) };
  };
  const { auditLog, configuration } = await retryOnce(open);
  const note = (n: number): EditNote => ({
    ...{ at: n, who: "key", address: "", changes: [], more: 0, keep: true, forget: n === 3 },
    action: n % 2 === 0 ? "DELETE /admin/keys/:key" : "PUT /admin/settings",
  });
  const all = { page: 1, pageSize: 10, who: "", action: "", q: "", since: 0, until: 0 };
  const edits = () => auditLog.listEntries(all).items.map(({ version, at }) => [version, at]);
  for (let n = 1; n <= 4; n += 1) {
    await retryOnce(async () => {
      const before = [(await configuration.readFresh()).version, edits().length];
      try {
        await configuration.update(
          (config) => ({ ...config, keys: [...config.keys, `k${n}`] }),
          () => note(n),
        );
      } catch (error) {
        // It has happened with its record, or not at all.
        expect([(await configuration.readFresh()).version, edits().length]).toEqual(before);
        throw error;
      }
    });
  }
  sql.heal();
  const stored = await (await open()).configuration.readFresh();
  const snapshot = await configuration.readFresh();
  expect(stored).toEqual(snapshot);
  const texts = auditLog.listBackups().map(({ version }) => auditLog.readBackup(version));
  return { snapshot, edits: edits(), versions: auditLog.listBackups(), texts };
});

endsTheSame("what is kept for callers", async (sql) => {
  const kept = await retryOnce(
    () =>
      new ExpiringStore<{ note: { id: string; expiresAt: number } }>(sql, { characters: 500, objects: 3 }),
  );
  for (const id of ["a", "b", "a", "c", "d"]) {
    await retryOnce(() => kept.put("me", "note", { id, expiresAt: id === "d" ? 5 : 10 }));
  }
  await retryOnce(() => kept.put("you", "note", { id: "a", expiresAt: 10 }));
  await retryOnce(() => kept.remove("me", "note", "b", 1));
  await retryOnce(() => kept.deleteExpired(7));
  await retryOnce(() => kept.put("me", "note", { id: "e", expiresAt: 10 }));
  sql.heal();
  const totals = sql.all("select * from kept_total order by owner");
  const counted = sql.all(
    "select owner, kind, count(*) as objects, sum(size) as characters from kept_object group by owner, kind order by owner",
  );
  expect(totals).toEqual(counted);
  return [kept.list("me", "note", 1), kept.list("you", "note", 1)];
});

endsTheSame("jobs of the page service", async (sql) => {
  const notified: string[] = [];
  const notify = async ({ id }: JobState) => void notified.push(id);
  const options = { sql, now: Date.now, maxBytes: 100_000, maxBytesPerClient: 100_000, notify };
  const jobs = await retryOnce(() =>
    createInProcessJobs({
      ...options,
      runTask: async ({ query }) => {
        await new Promise<void>((resolve) => setTimeout(resolve, 100));
        return { body: toUtf8(query), headers: {}, madeAt: NOON };
      },
    }),
  );
  const task = (url: string) => ({ url, query: `url=${url}`, fault: null });
  const job = (client: string, ...urls: string[]) => ({
    ...({ client, operation: "thumbs", origin: "http://x" } as const),
    tasks: urls.map(task),
  });
  const one = await retryOnce(() => jobs.create(job("a", "1", "2", "3")));
  const two = await retryOnce(() => jobs.create(job("b", "4")));
  // Nobody asks: the jobs go on by themselves.
  await vi.advanceTimersByTimeAsync(60_000);
  sql.heal();
  const bodies = [];
  for (const [id = "", tasks] of [
    [one?.id, 3],
    [two?.id, 1],
  ] as const) {
    const state = await jobs.get(id);
    for (let n = 0; n < tasks; n += 1) {
      const result = await jobs.result(id, n);
      bodies.push([state?.tasks[n]?.status, result === null ? null : new TextDecoder().decode(result.body)]);
    }
  }
  const unfinished = sql.all("select * from page_jobs where finished is null");
  await vi.advanceTimersByTimeAsync(2 * 3_600_000);
  await attempt(() => jobs.get(one?.id ?? ""));
  return { bodies, unfinished, left: sql.all("select count(*) as n from page_results") };
});

endsTheSame("alerts", async (sql) => {
  const sent: string[] = [];
  const url = "https://hooks.example.com/T0/secret";
  const platform = await memoryPlatform({
    config: {
      accounts: [],
      alerts: { webhooks: [{ id: "ops", url, format: "chat", secret: SECRET }] },
    },
    fetch: async (_url, init) => {
      sent.push(String(init?.body));
      return new Response(null, { status: 200 });
    },
  });
  const open = () => new Watcher({ platform, ...createWatchStateStore(sql) });
  let watcher = await retryOnce(open);
  for (let round = 0; round < 3; round += 1) {
    vi.setSystemTime(Date.now() + 30_000);
    await attempt(() => watcher.runRound());
  }
  const tested = await watcher.test("ops");
  vi.setSystemTime(Date.now() + 30_000);
  await attempt(() => watcher.runRound());
  sql.heal();
  watcher = open();
  await watcher.runRound();
  const { firing, deliveries } = watcher.status();
  return { sent, tested, firing, deliveries };
});

describe("the page service's limits", () => {
  test.each(FAILURE_KINDS)("allow no call more when a step fails %s", async (kind) => {
    await failEachStep(kind, async (sql) => {
      vi.setSystemTime(NOON);
      const limits = await retryOnce(() => new RateLimits(sql, Date.now, 2));
      let allowed = 0;
      for (let n = 0; n < 8; n += 1) {
        if ((await attempt(() => limits.take("a", 5)))?.allowed) allowed += 1;
        if (n % 3 === 0) await attempt(() => limits.take(`${n}`, 5));
      }
      expect(allowed).toBeLessThanOrEqual(5);
      vi.setSystemTime(NOON + 61_000);
      sql.heal();
      expect(limits.take("a", 5)).toMatchObject({ allowed: true, remaining: 4 });
      expect(new RateLimits(sql, Date.now).take("a", 5).remaining).toBe(3);
    });
  });
});
