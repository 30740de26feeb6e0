import { describe, expect, it } from "vitest";
import { type Archive, type ArchiveBatch, EndedRecordsLost } from "../../../../src/core/ports/archive.ts";
import type { UsageMessage } from "../../../../src/core/ports/usage.ts";
import { SqlArchive } from "../../../../src/records/archive/sql-archive.ts";
import { Outbox } from "../../../../src/records/telemetry/outbox.ts";
import type { RecordSource } from "../../../../src/records/telemetry/waiting-records.ts";
import { SqlUsage } from "../../../../src/records/usage/sql-usage.ts";
import { emptyConfig } from "../../../support/config.ts";
import { memoryDatabase } from "../archive/sqlite.ts";
import { capture, write } from "../archive/support.ts";
import { used } from "../usage/support.ts";

const NOON = Date.UTC(2026, 10, 22, 12);

/** A clock that goes on when everybody waits. */
class Clock {
  time = 0;
  #sleepers: { at: number; wake: () => void }[] = [];
  now = () => this.time;
  sleep = (milliseconds: number) =>
    new Promise<void>((wake) => {
      this.#sleepers.push({ at: this.time + milliseconds, wake });
    });
  async run(until: number): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      const next = this.#sleepers.sort((one, other) => one.at - other.at)[0];
      if (next === undefined || next.at > until) break;
      this.#sleepers.shift();
      this.time = next.at;
      next.wake();
    }
    this.time = until;
  }
}

function setUp(fails: () => boolean = () => false, losesEnded: () => boolean = () => false) {
  const clock = new Clock();
  const archive = new SqlArchive(memoryDatabase(), clock.now);
  const batches: ArchiveBatch[] = [];
  const observed: Archive = Object.assign(Object.create(archive), {
    write: async (batch: ArchiveBatch) => {
      if (fails()) throw new Error("the archive is away");
      batches.push(batch);
      archive.write(losesEnded() ? { ...batch, records: [] } : batch);
      if (losesEnded()) throw new EndedRecordsLost("the bucket is away");
    },
  });
  const usage = new SqlUsage(memoryDatabase(), clock.now);
  const books = {
    write: async (message: UsageMessage) => {
      if (fails()) throw new Error("the books are away");
      usage.write(message);
    },
  };
  const config = emptyConfig();
  const outbox = new Outbox({
    archive: observed,
    usage: books,
    configuration: { read: async () => ({ version: 1, config, envBacked: false, writable: true }) },
    now: clock.now,
    sleep: clock.sleep,
  });
  const settled = async () => outbox.waitUntilSent();
  const source = (id: string): RecordSource => ({
    write: () => write(id, { updated_at: clock.time }),
    characters: 0,
    createdAt: 1_000,
    isKnownToArchive: false,
    hasEnded: false,
    shorten: () => undefined,
    markUndelivered: () => undefined,
  });
  const ids = () => archive.listHistory({ offset: 0, count: 1_000, q: "" }).items.map(({ id }) => id);
  return { clock, outbox, settled, source, batches, ids, config, archive, usage };
}

describe("the outbox", () => {
  it("sends the records of many requests in one message, after them", async () => {
    const { clock, outbox, settled, source, batches, ids } = setUp();
    for (let n = 0; n < 50; n += 1) {
      outbox.record(source(`r${n}`));
      void settled();
    }
    expect(batches).toEqual([]);
    await clock.run(1_000);
    expect(batches.length).toBe(1);
    expect(ids().length).toBe(50);
  });

  it("sends at most two messages a second, however many requests come", async () => {
    const { clock, outbox, settled, source, batches, ids } = setUp();
    for (let n = 0; n < 200; n += 1) {
      outbox.record(source(`r${n}`));
      void settled();
      await clock.run(clock.time + 50);
    }
    await clock.run(clock.time + 2_000);
    expect(batches.length).toBeLessThanOrEqual(22);
    expect(ids().length).toBe(200);
  });

  it("is complete when others have sent its records", async () => {
    const { clock, outbox, settled, source, batches } = setUp();
    outbox.record(source("a"));
    let done = 0;
    const both = [settled(), settled()].map((end) => end.then(() => (done += 1)));
    await clock.run(2_000);
    expect(done).toBe(2);
    expect(batches.length).toBe(1);
    await Promise.all(both);
  });

  it("sends no record of a request that a limit refuses at once, and that of a waiting request half a second later", async () => {
    const { clock, outbox, settled, source, ids } = setUp();
    const undecided = (id: string) => ({ ...source(id), createdAt: 300, mayBeRefused: true });
    const refused = undecided("refused");
    outbox.record(source("running"));
    void settled();
    await clock.run(300);
    outbox.record(refused);
    outbox.record(undecided("waiting"));
    await clock.run(600);
    expect(ids()).toEqual(["running"]);
    outbox.discard(refused);
    void settled();
    await clock.run(2_000);
    expect(ids().sort()).toEqual(["running", "waiting"]);
  });

  it("does not wait for a clock that was set back", async () => {
    const { clock, outbox, settled, source, ids } = setUp();
    clock.time = 3_600_000;
    outbox.record(source("a"));
    const first = settled();
    await clock.run(3_602_000);
    await first;
    // All sleepers have slept; who sleeps now does so by the new time.
    clock.time = 0;
    outbox.record(source("b"));
    const second = settled();
    await clock.run(2_000);
    await second;
    expect(ids().sort()).toEqual(["a", "b"]);
  });

  it("keeps unsent records for the next message, and never fails", async () => {
    let away = true;
    const { clock, outbox, settled, source, ids, archive } = setUp(() => away);
    outbox.record(source("a"));
    outbox.counts.add("polygate_requests_total");
    const first = settled();
    await clock.run(1_000);
    await first;
    expect(ids()).toEqual([]);
    away = false;
    outbox.record(source("b"));
    void settled();
    await clock.run(5_000);
    expect(ids().sort()).toEqual(["a", "b"]);
    expect(archive.readMetrics()).toEqual({ polygate_requests_total: 1 });
  });

  it("sends counts and captures once if the archive cannot store records", async () => {
    let away = true;
    const { clock, outbox, settled, source, ids, archive, config } = setUp(undefined, () => away);
    Object.assign(config.captures, { limit: 5 });
    // More than one message carries.
    for (const id of ["a", "b"])
      outbox.record({
        ...source(id),
        write: () => write(id, { updated_at: clock.time }, { content: "x".repeat(6 * 1024 * 1024) }),
      });
    outbox.counts.add("polygate_requests_total");
    outbox.capture(capture("c1"));
    void settled();
    await clock.run(2_000);
    expect(ids()).toEqual([]);
    expect(archive.readMetrics()).toEqual({ polygate_requests_total: 1 });
    expect(archive.listCaptures()).toHaveLength(1);
    away = false;
    void settled();
    await clock.run(4_000);
    expect(ids().sort()).toEqual(["a", "b"]);
    expect(archive.readMetrics()).toEqual({ polygate_requests_total: 1 });
    expect(archive.listCaptures()).toHaveLength(1);
  });

  it("has a maximum size while the archive is unavailable", async () => {
    const { clock, outbox, settled, source, batches, config } = setUp(() => clock.time < 10_000);
    Object.assign(config.history, { limit: 100_000 });
    for (let n = 0; n < 20_000; n += 1) outbox.record(source(`r${n}`));
    void settled();
    await clock.run(11_000);
    const before = batches.length;
    void settled();
    await clock.run(13_000);
    const sent = batches.slice(before).flatMap(({ records }) => records).length;
    expect(sent).toBe(5_000);
  });

  it("holds few long texts: only the beginnings of the oldest records, and all outcomes", async () => {
    const { clock, outbox, settled, source, ids } = setUp(() => clock.time < 10_000);
    let held = 0;
    const long = (id: string, length: number): RecordSource => {
      let characters = length;
      held += length;
      return {
        ...source(id),
        get characters() {
          return characters;
        },
        shorten() {
          held -= characters;
          characters = 0;
        },
      };
    };
    for (let n = 0; n < 100; n += 1) outbox.record(long(`r${n}`, 1024 * 1024));
    expect(held).toBe(8 * 1024 * 1024);
    outbox.record(long("longest", 1024 ** 3));
    outbox.record(source("last"));
    expect(held).toBe(0);
    void settled();
    await clock.run(11_000);
    void settled();
    await clock.run(13_000);
    expect(ids().length).toBe(102);
  });

  it("does not send what the archive would drop at once", async () => {
    const { clock, outbox, settled, source, batches, ids, config } = setUp();
    Object.assign(config.history, { limit: 3 });
    const asked = [5_000, 6_000, 1_000, 7_000, 2_000, 8_000];
    for (const at of asked) {
      const id = `r${at}`;
      outbox.record({
        ...source(id),
        createdAt: at,
        write: () => write(id, { created_at: at }),
      });
    }
    void settled();
    await clock.run(1_000);
    expect(ids()).toEqual(["r8000", "r7000", "r6000"]);
    expect(batches.flatMap(({ records }) => records)).toHaveLength(3);
  });

  it("sends the outcome of every record that the archive knows", async () => {
    const { clock, outbox, settled, source, batches, config } = setUp();
    Object.assign(config.history, { limit: 2 });
    for (const [id, createdAt, isKnownToArchive] of [
      ["long", 1, true],
      ["short", 2, false],
      ["newer", 3, false],
      ["newest", 4, false],
    ] as const)
      outbox.record({ ...source(id), createdAt, isKnownToArchive: isKnownToArchive });
    void settled();
    await clock.run(1_000);
    const told = batches.flatMap(({ records }) => records.map(({ summary: { id } }) => id));
    expect(told).toEqual(["long", "newer", "newest"]);
  });

  it("creates no record while the history is off", async () => {
    const { clock, outbox, settled, batches, config } = setUp();
    Object.assign(config.history, { limit: 0 });
    const unwanted = {
      characters: 0,
      createdAt: 0,
      isKnownToArchive: false,
      hasEnded: false,
      shorten: () => undefined,
      write: () => expect.fail("a record was made"),
      markUndelivered: () => undefined,
    };
    outbox.record(unwanted);
    void settled();
    await clock.run(1_000);
    expect(batches.flatMap(({ records }) => records)).toEqual([]);
  });

  it("repeats usage until it is acknowledged, also without other requests", async () => {
    const { clock, outbox, settled, usage } = setUp(() => clock.time < 20_000);
    outbox.usage.count(used(), NOON);
    const first = settled();
    await clock.run(15_000);
    outbox.usage.count(used(), NOON);
    void settled();
    await clock.run(40_000);
    await first;
    expect(usage.listKeyUsage()).toMatchObject([{ requests: 2 }]);
    expect(outbox.usage.isEmpty).toBe(true);
  });

  it("sends usage with the next request if it was not acknowledged for long", async () => {
    const { clock, outbox, settled, usage } = setUp(() => clock.time < 100_000);
    outbox.usage.count(used(), NOON);
    const first = settled();
    await clock.run(90_000);
    await first;
    clock.time = 110_000;
    outbox.usage.count(used(), NOON);
    void settled();
    await clock.run(120_000);
    expect(usage.listKeyUsage()).toMatchObject([{ requests: 2 }]);
  });

  it("sends counts alone more rarely", async () => {
    const { clock, outbox, settled, batches, archive } = setUp();
    for (let n = 0; n < 40; n += 1) {
      outbox.counts.add("polygate_requests_total");
      void settled();
      await clock.run(clock.time + 100);
    }
    await clock.run(clock.time + 4_000);
    expect(batches.length).toBeLessThanOrEqual(3);
    expect(archive.readMetrics()).toEqual({ polygate_requests_total: 40 });
  });
});
