import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { toUtf8 } from "../../../../src/core/encoding/bytes.ts";
import { GatewayError } from "../../../../src/core/errors/gateway-error.ts";
import type { JobState, NewJob, TaskResult } from "../../../../src/core/ports/page-jobs.ts";
import type { Sql } from "../../../../src/core/storage/sql.ts";
import { JobScheduler, MAX_UNFINISHED_JOBS } from "../../../../src/pages/jobs/job-scheduler.ts";
import type { QueuedTask } from "../../../../src/pages/jobs/job-table.ts";
import type { DueWebhook } from "../../../../src/pages/jobs/webhook-table.ts";
import { memoryDatabase } from "../../records/archive/sqlite.ts";

const HOUR = 3_600_000;

describe("the job scheduler", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: 1_000_000_000_000 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const picture = (task: QueuedTask, bytes = 10): TaskResult => ({
    body: toUtf8(task.query.padEnd(bytes, ".")),
    headers: { "content-type": "image/png" },
    madeAt: Date.now(),
  });
  const job = (client: string, ...urls: readonly string[]): NewJob => ({
    client,
    operation: "thumbs",
    origin: "http://gateway.test",
    tasks: urls.map((url) => ({ url, query: `url=${url}`, fault: null })),
  });

  function bookOf(
    work: (task: QueuedTask) => Promise<TaskResult>,
    sql: Sql = memoryDatabase(),
    maxBytes = 1_000,
    maxBytesOfClient = maxBytes,
    notify: (job: JobState, webhook: DueWebhook) => Promise<void> = async () => undefined,
  ) {
    return new JobScheduler({
      sql,
      now: Date.now,
      runTask: work,
      notify,
      prefix: "",
      maxBytes,
      maxBytesPerClient: maxBytesOfClient,
    });
  }
  const idOf = (state: JobState | null) => state?.id ?? "none";
  const statuses = (state: JobState | null) => state?.tasks.map(({ status }) => status);

  it("runs the tasks, a few at once per client, and stores the results for an hour", async () => {
    const open = new Map<string, number>();
    let most = 0;
    const book = bookOf(async (task) => {
      const count = (open.get(task.client) ?? 0) + 1;
      open.set(task.client, count);
      most = Math.max(most, count);
      await wait(100);
      open.set(task.client, (open.get(task.client) ?? 0) - 1);
      return picture(task);
    });
    const many = book.create(job("a", "1", "2", "3", "4", "5"));
    expect([many?.finishedAt, statuses(many)]).toEqual([null, Array(5).fill("queued")]);
    const round = book.run(Number.POSITIVE_INFINITY);
    await vi.advanceTimersByTimeAsync(50);
    // Who comes while others are served does not wait for them.
    const other = book.create(job("b", "6"));
    await vi.advanceTimersByTimeAsync(110);
    expect(statuses(book.get(idOf(other)))).toEqual(["completed"]);
    expect(statuses(book.get(idOf(many)))?.filter((status) => status === "completed")).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1_000);
    await round;
    expect(most).toBe(2);
    const done = book.get(idOf(many));
    expect([done?.finishedAt, statuses(done)]).toEqual([expect.any(Number), Array(5).fill("completed")]);
    expect(book.result(idOf(many), 4)).toMatchObject({ headers: { "content-type": "image/png" } });
    expect(new TextDecoder().decode(book.result(idOf(many), 4)?.body)).toBe("url=5.....");
    await vi.advanceTimersByTimeAsync(HOUR);
    expect([book.get(idOf(many)), book.result(idOf(many), 4), book.nextExpiryAt]).toEqual([null, null, null]);
  });

  it("states why a task failed, and retries it after an overload", async () => {
    const tries: string[] = [];
    const book = bookOf(async (task) => {
      tries.push(task.query);
      if (task.query === "url=broken") throw new GatewayError(502, "no", { code: "page_dns_failed" });
      if (task.query === "url=odd") throw new Error("a secret");
      if (task.attempts < 1) throw new GatewayError(503, "full", { code: "overloaded" });
      return picture(task);
    });
    const id = idOf(book.create(job("a", "broken", "crowded", "odd")));
    await book.run(Number.POSITIVE_INFINITY);
    expect(statuses(book.get(id))).toEqual(["failed", "queued", "failed"]);
    expect(book.nextDueAt).toBe(Date.now() + 5_000);
    await vi.advanceTimersByTimeAsync(5_000);
    await book.run(Number.POSITIVE_INFINITY);
    const state = book.get(id);
    expect(statuses(state)).toEqual(["failed", "completed", "failed"]);
    expect(state?.tasks.map(({ fault }) => fault?.code ?? null)).toEqual([
      "page_dns_failed",
      null,
      "internal_error",
    ]);
    expect(JSON.stringify(state)).not.toContain("secret");
    expect(tries).toHaveLength(4);
  });

  it("limits the number of a client's unfinished jobs", () => {
    const book = bookOf(async (task) => picture(task));
    const ids = Array.from({ length: MAX_UNFINISHED_JOBS }, () => idOf(book.create(job("a", "1"))));
    expect(new Set(ids).size).toBe(MAX_UNFINISHED_JOBS);
    expect(book.create(job("a", "1"))).toBeNull();
    expect(book.create(job("b", "1"))).not.toBeNull();
    book.cancel(ids[0] ?? "");
    expect(book.create(job("a", "1"))).not.toBeNull();
  });

  it("ends a cancelled job: it keeps finished results, and running tasks store nothing", async () => {
    const book = bookOf(async (task) => {
      if (task.n > 0) await wait(1_000);
      return picture(task);
    });
    const id = idOf(book.create(job("a", "1", "2", "3", "4")));
    const round = book.run(Number.POSITIVE_INFINITY);
    await vi.advanceTimersByTimeAsync(100);
    const cancelled = book.cancel(id);
    expect(statuses(cancelled)).toEqual(["completed", "cancelled", "cancelled", "cancelled"]);
    expect(cancelled?.finishedAt).toBe(Date.now());
    await vi.advanceTimersByTimeAsync(2_000);
    await round;
    expect(statuses(book.get(id))).toEqual(["completed", "cancelled", "cancelled", "cancelled"]);
    expect([book.result(id, 0) !== null, book.result(id, 1)]).toEqual([true, null]);
    expect(statuses(book.cancel(id))).toEqual(["completed", "cancelled", "cancelled", "cancelled"]);
    expect(book.cancel("job_none")).toBeNull();
  });

  it("keeps earlier results when the result of a cancelled task arrives late", async () => {
    const book = bookOf(
      async (task) => {
        if (task.query === "url=late") await wait(1_000);
        return picture(task, 600);
      },
      memoryDatabase(),
      1_000,
    );
    const earlier = idOf(book.create(job("a", "early")));
    await book.run(Number.POSITIVE_INFINITY);
    const cancelled = idOf(book.create(job("a", "late")));
    const round = book.run(Number.POSITIVE_INFINITY);
    await vi.advanceTimersByTimeAsync(100);
    book.cancel(cancelled);
    await vi.advanceTimersByTimeAsync(2_000);
    await round;
    expect(book.result(earlier, 0)?.body.byteLength).toBe(600);
    expect(statuses(book.get(cancelled))).toEqual(["cancelled"]);
  });

  it("resumes tasks after a restart, but only a limited number of times", async () => {
    const sql = memoryDatabase();
    const never = async () => new Promise<TaskResult>(() => undefined);
    const id = idOf(bookOf(never, sql).create(job("a", "1")));
    for (let life = 0; life < 2; life++) {
      void bookOf(never, sql).run(Number.POSITIVE_INFINITY);
      await vi.advanceTimersByTimeAsync(10);
    }
    const other = idOf(bookOf(never, sql).create(job("a", "2")));
    const book = bookOf(never, sql);
    void book.run(Number.POSITIVE_INFINITY);
    await vi.advanceTimersByTimeAsync(10);
    expect(statuses(book.get(id))).toEqual(["running"]);
    const last = bookOf(async (task) => picture(task), sql);
    await last.run(Number.POSITIVE_INFINITY);
    expect(last.get(id)?.tasks[0]).toMatchObject({ status: "failed", fault: { code: "job_interrupted" } });
    expect(statuses(last.get(other))).toEqual(["completed"]);
  });

  it("ends a job that takes longer than an hour", async () => {
    const book = bookOf(() => new Promise<TaskResult>(() => undefined));
    const id = idOf(book.create(job("a", "1")));
    void book.run(Number.POSITIVE_INFINITY);
    await vi.advanceTimersByTimeAsync(HOUR);
    expect(book.get(id)?.tasks[0]).toMatchObject({ status: "failed", fault: { status: 504 } });
  });

  it("limits the stored bytes by evicting the oldest finished jobs", async () => {
    const book = bookOf(async (task) => picture(task, 400), memoryDatabase(), 1_050);
    const ids: string[] = [];
    for (const url of ["1", "2", "3"]) {
      ids.push(idOf(book.create(job("a", url))));
      await book.run(Number.POSITIVE_INFINITY);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(ids.map((id) => book.get(id) === null)).toEqual([true, false, false]);
    expect(book.create(job("a", "x".repeat(1_000)))).toBeNull();
    const large = idOf(book.create(job("a", "4", "5", "6")));
    await book.run(Number.POSITIVE_INFINITY);
    expect(book.get(large)?.tasks.map(({ fault }) => fault?.code ?? null)).toEqual([
      null,
      null,
      "page_too_large",
    ]);
  });

  it("evicts jobs of the largest client first, and never those of a smaller one", async () => {
    const book = bookOf(async (task) => picture(task, 200), memoryDatabase(), 1_000, 700);
    const done = async (client: string, ...urls: readonly string[]) => {
      const id = idOf(book.create(job(client, ...urls)));
      await book.run(Number.POSITIVE_INFINITY);
      await vi.advanceTimersByTimeAsync(1_000);
      return id;
    };
    const isStored = (id: string) => book.get(id) !== null;
    const first = await done("a", "1");
    const greedy: string[] = [];
    for (const url of ["2", "3", "4", "5", "6"]) greedy.push(await done("b", url));
    // Its own share is full: its own jobs make room.
    expect([isStored(first), ...greedy.map(isStored)]).toEqual([true, false, false, true, true, true]);
    // There is no room in all: the one that has most gives way, not the one whose job is the oldest.
    const late = await done("c", "7");
    expect([first, late, ...greedy.slice(2)].map(isStored)).toEqual([true, true, false, true, true]);
    // Who has as much as others has to make do with that.
    const large = await done("c", "8", "9");
    expect([first, large].map(isStored)).toEqual([true, true]);
    expect(book.create(job("d", "x".repeat(400)))).toBeNull();
    expect(isStored(first)).toBe(true);
  });

  it("ends its run and schedules the next one when its time is up", async () => {
    const book = bookOf(async (task) => {
      await wait(100);
      return picture(task);
    });
    const id = idOf(book.create(job("a", "1", "2", "3", "4", "5", "6")));
    const round = book.run(Date.now() + 150);
    await vi.advanceTimersByTimeAsync(1_000);
    await round;
    expect(statuses(book.get(id))?.filter((status) => status === "queued")).toHaveLength(2);
    expect(book.nextDueAt).toBeLessThanOrEqual(Date.now());
  });

  it("passes the upload address of a task to the work, and deletes it with the job", async () => {
    const sql = memoryDatabase();
    const seen: (string | null)[] = [];
    const book = bookOf(async (task) => {
      seen.push(task.uploadUrl);
      return picture(task);
    }, sql);
    const [first, second] = job("a", "1", "2").tasks;
    if (first === undefined || second === undefined) throw new Error("two tasks");
    book.create({ ...job("a"), tasks: [{ ...first, uploadUrl: "https://bucket.test/1" }, second] });
    await book.run(Number.POSITIVE_INFINITY);
    expect(seen).toEqual(["https://bucket.test/1", null]);
    await vi.advanceTimersByTimeAsync(2 * HOUR);
    // Whatever happens next finds the job expired.
    expect(book.get("none")).toBeNull();
    expect(sql.all("select * from page_uploads")).toEqual([]);
  });

  it("calls a finished job's webhook until the receiver accepts it, at most five times, also after a restart", async () => {
    const sql = memoryDatabase();
    const calls: string[] = [];
    let isAccepted = false;
    const notify = async ({ id, finishedAt }: JobState, { url, attempts }: DueWebhook) => {
      calls.push(`${id === "" || finishedAt === null ? "unfinished" : url} ${attempts}`);
      if (!isAccepted) throw new Error("refused");
    };
    const open = () => bookOf(async (task) => picture(task), sql, 1_000, 1_000, notify);
    const runDue = async (book: JobScheduler) => {
      await vi.advanceTimersByTimeAsync(Math.max(0, (book.nextDueAt ?? Date.now()) - Date.now()));
      await book.run(Number.POSITIVE_INFINITY);
    };
    let book = open();
    book.create({ ...job("a", "1"), webhook: "https://hook.test/" });
    await book.run(Number.POSITIVE_INFINITY);
    expect(calls).toEqual(["https://hook.test/ 0"]);
    book = open();
    for (let n = 0; n < 6; n++) await runDue(book);
    expect(calls).toEqual([0, 1, 2, 3, 4].map((n) => `https://hook.test/ ${n}`));
    expect(book.nextDueAt).toBeNull();

    calls.length = 0;
    isAccepted = true;
    const cancelled = idOf(book.create({ ...job("b", "2"), webhook: "https://hook.test/b" }));
    book.cancel(cancelled);
    expect(book.nextDueAt).not.toBeNull();
    for (let n = 0; n < 3; n++) await runDue(book);
    expect(calls).toEqual(["https://hook.test/b 0"]);
  });

  it("calls at most two webhooks of one client at a time, so that slow receivers hold up nobody else", async () => {
    let open = 0;
    let most = 0;
    const notify = async () => {
      open += 1;
      most = Math.max(most, open);
      await wait(10_000);
      open -= 1;
    };
    const book = bookOf(async (task) => picture(task), memoryDatabase(), 10_000, 10_000, notify);
    for (let n = 0; n < 4; n++) book.create({ ...job("greedy"), webhook: "https://slow.test/" });
    const round = book.run(Number.POSITIVE_INFINITY);
    await vi.advanceTimersByTimeAsync(1_000);
    const other = idOf(book.create(job("other", "1")));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(statuses(book.get(other))).toEqual(["completed"]);
    await vi.advanceTimersByTimeAsync(60_000);
    await round;
    expect(most).toBe(2);
  });

  it("serves clients that have nothing running first, and calls webhooks before it starts more tasks", async () => {
    const called: number[] = [];
    const work = async (task: QueuedTask) => {
      await wait(20_000);
      return picture(task);
    };
    const notify = async () => void called.push(Date.now());
    const book = bookOf(work, memoryDatabase(), 100_000, 100_000, notify);
    const many = Array.from({ length: 50 }, (_, n) => String(n));
    for (const client of ["a", "b", "c", "d"]) book.create(job(client, ...many));
    const round = book.run(Number.POSITIVE_INFINITY);
    await vi.advanceTimersByTimeAsync(1_000);
    const other = book.create({ ...job("other", "1"), webhook: "https://hook.test/" });
    await vi.advanceTimersByTimeAsync(45_000);
    expect(statuses(book.get(idOf(other)))).toEqual(["completed"]);
    expect(called).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(HOUR);
    await round;
  });
});
