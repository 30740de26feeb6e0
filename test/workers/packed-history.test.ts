import { abortAllDurableObjects, runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, test, vi } from "vitest";
import { EndedRecordsLost } from "../../src/core/ports/archive.ts";
import { createPackKey } from "../../src/core/ports/record-packs.ts";
import { createArchive } from "../../src/runtime/cloudflare/archive.ts";
import type { Env } from "../../src/runtime/cloudflare/env.ts";
import { sweepPacks } from "../../src/runtime/cloudflare/pack-bucket.ts";
import { batch, write as writeAny } from "../unit/records/archive/support.ts";

const bound: Env = env;
const archive = createArchive(bound);
const retention = { version: 1, records: 100, captures: 5 };
const EVERYTHING = { offset: 0, count: 100, q: "" };

/** A record of a request that comes in so many milliseconds from now: each test begins with a clearing, and is about what comes after it. */
const write: typeof writeAny = (id, { created_at = 1, ...fields } = {}, texts) =>
  writeAny(id, { created_at: Date.now() + created_at, ...fields }, texts);

function bucket(): R2Bucket {
  const { HISTORY_BUCKET: found } = bound;
  if (found === undefined) throw new Error("no bucket is bound");
  return found;
}

async function keys(): Promise<string[]> {
  return (await bucket().list()).objects.map(({ key }) => key);
}

async function everythingStored(): Promise<string> {
  const bodies = (await keys()).map(async (key) => (await bucket().get(key))?.text());
  return (await Promise.all(bodies)).join("\n");
}

/** The bucket fails for all its users, including the object that stores the history. */
function away(...methods: ("put" | "delete" | "list" | "get")[]): void {
  const methodsOf: R2Bucket = Object.getPrototypeOf(bucket());
  for (const method of methods)
    vi.spyOn(methodsOf, method).mockImplementation(() => Promise.reject(new Error("the bucket is away")));
}

/** The bucket, which lists one key at once. */
function onePerList(): R2Bucket {
  const list = (options?: R2ListOptions) => bucket().list({ ...options, limit: 1 });
  const remove = (gone: string | string[]) => bucket().delete(gone);
  return Object.assign(Object.create(bucket()), { list, delete: remove });
}

afterEach(async () => {
  vi.restoreAllMocks();
  await archive.clearHistory();
  // A repeated message has left an object that the index does not have.
  for (const key of await keys()) await bucket().delete(key);
});

describe("the history with a bucket", () => {
  test("has the texts of many records in one object, and gives them back after a restart", async () => {
    const names = Array.from({ length: 50 }, (_, n) => `record-${n}`);
    const content = "\u{1f600}".repeat(1_000);
    const records = names.map((name, n) =>
      write(name, { created_at: n + 1 }, { content: `${name} ${content}`, reasoning: "Hm." }),
    );
    await archive.write(batch({ retention, records, metrics: { polygate_http_requests_total: 50 } }));
    expect(await keys()).toHaveLength(1);
    await abortAllDurableObjects();
    expect(await archive.listHistory({ ...EVERYTHING, count: 2 })).toMatchObject({
      total: 50,
      items: [{ id: "record-49" }, { id: "record-48" }],
    });
    await archive.write(batch({ retention, records: [write("runs", { status: "streaming" })] }));
    const asked = { ...EVERYTHING, q: "req_record-1", filter: { model: ["gpt-4o"] } };
    expect(await archive.listHistory({ ...asked, count: 1 })).toMatchObject({
      total: 11,
      items: [{ id: "record-19" }],
    });
    expect(await archive.listHistory({ ...EVERYTHING, q: "req_runs" })).toMatchObject({ total: 1 });
    const read = await archive.readHistory("record-7");
    expect(read).toMatchObject({ prompt: "prompt", reasoning: "Hm.", messages: "[]" });
    expect(read?.content === `record-7 ${content}`).toBe(true);
    expect(await archive.readMetrics()).toMatchObject({ polygate_http_requests_total: 50 });
  });

  test("stores a repeated message once", async () => {
    const message = batch({ retention, records: [write("a"), write("b", { status: "streaming" })] });
    await archive.write(message);
    await archive.write(message);
    expect((await archive.listHistory(EVERYTHING)).total).toBe(2);
    expect((await archive.readHistory("b"))?.prompt).toBe("prompt");
  });

  test("erases deleted records from the bucket, and nothing else", async () => {
    const records = ["s1", "s2", "s3"].map((id) => write(id, {}, { content: `the secret of ${id}` }));
    await archive.write(batch({ retention, records }));
    expect(await Promise.all(["s1", "s2"].map((id) => archive.deleteHistory(id)))).toEqual([true, true]);
    expect(await archive.deleteHistory("s1")).toBe(false);
    const stored = await everythingStored();
    expect(stored).not.toContain("secret of s1");
    expect(stored).not.toContain("secret of s2");
    expect((await archive.readHistory("s3"))?.content).toBe("the secret of s3");
    expect(await archive.clearHistory()).toBe(1);
    expect(await keys()).toEqual([]);
  });

  test("erases records that were deleted early or arrived twice, once the bucket is available", async () => {
    const runs = (id: string) => write(id, { status: "streaming" });
    const ended = (id: string) => write(id, {}, { content: `the secret of ${id}` });
    await archive.write(batch({ retention, records: [runs("deleted"), runs("beside"), ended("twice")] }));
    await archive.deleteHistory("deleted");
    away("get", "delete");
    await archive.write(batch({ retention, records: [ended("deleted"), ended("beside")] }));
    await archive.write(batch({ retention, records: [ended("twice")] }));
    vi.restoreAllMocks();
    await runDurableObjectAlarm(env.HISTORY.getByName("main"));
    const stored = await everythingStored();
    expect(stored).not.toContain("secret of deleted");
    expect(stored.split("secret of twice")).toHaveLength(2);
    expect((await archive.readHistory("beside"))?.content).toBe("the secret of beside");
    expect((await archive.readHistory("twice"))?.content).toBe("the secret of twice");
  });

  test("keeps no records or texts that began before it was cleared, for any clock of the isolate", async () => {
    expect(await archive.clearHistory()).toBe(0);
    const late = () => write("late", { created_at: -1_000 }, { content: "the secret of late" });
    const fresh = (id: string) => write(id, {}, { content: `the text of ${id}` });
    const runs = write("ran-on", { created_at: -1_000, status: "streaming" });
    await archive.write(batch({ retention, records: [late(), fresh("since"), runs] }));
    expect(await archive.listHistory(EVERYTHING)).toMatchObject({ total: 1, items: [{ id: "since" }] });
    await abortAllDurableObjects();
    await archive.write(batch({ retention, records: [late(), write("ran-on", { created_at: -1_000 })] }));
    expect(await archive.listHistory(EVERYTHING)).toMatchObject({ total: 1, items: [{ id: "since" }] });
    await runDurableObjectAlarm(env.HISTORY.getByName("main"));
    const stored = await everythingStored();
    expect(stored).not.toContain("secret of late");
    expect(stored).toContain("the text of since");
    const clock = vi.spyOn(Date, "now");
    const behind = Date.now() - 3_600_000;
    clock.mockImplementation(() => behind);
    await archive.write(batch({ retention, records: [fresh("behind")] }));
    vi.restoreAllMocks();
    expect((await archive.readHistory("behind"))?.content).toBe("the text of behind");
    expect(await archive.clearHistory()).toBe(2);
  });

  test("clears also while the bucket is away: no record is left without its texts", async () => {
    await archive.write(batch({ retention, records: [write("away-1"), write("away-2")] }));
    away("delete");
    expect(await archive.clearHistory()).toBe(2);
    expect((await archive.listHistory(EVERYTHING)).total).toBe(0);
    vi.restoreAllMocks();
    expect(await runDurableObjectAlarm(env.HISTORY.getByName("main"))).toBe(true);
  });

  test("accepts a message except for ended records whose texts cannot be stored, which the isolate repeats", async () => {
    const records = [write("unheard"), write("goes-on", { status: "streaming" })];
    const message = batch({ retention, records, metrics: { told_once: 1 } });
    away("put");
    await expect(archive.write(message)).rejects.toThrow(EndedRecordsLost);
    vi.restoreAllMocks();
    const methodsOf: R2Bucket = Object.getPrototypeOf(bucket());
    vi.spyOn(methodsOf, "put").mockImplementation(() => new Promise(() => undefined));
    const never = createArchive(bound, 20).write(batch({ retention, records: [write("unheard")] }));
    await expect(never).rejects.toThrow(EndedRecordsLost);
    const { items } = await archive.listHistory(EVERYTHING);
    expect(items.map(({ id }) => id)).toEqual(["goes-on"]);
    expect(await archive.readMetrics()).toMatchObject({ told_once: 1 });
  });

  test("stores nothing twice while the object is unavailable", async () => {
    const { HISTORY: object } = bound;
    const deaf: Env = {
      ...bound,
      HISTORY: Object.assign(Object.create(object), { getByName: () => stub() }),
    };
    let isDeaf = true;
    const stub = () => {
      if (isDeaf) throw new Error("the object is away");
      return object.getByName("main");
    };
    const repeating = createArchive(deaf);
    const ended = (id: string) => write(id, {}, { content: `the end of ${id}` });
    await expect(repeating.write(batch({ retention, records: [ended("p1")] }))).rejects.toThrow("away");
    await expect(
      repeating.write(batch({ retention, records: [ended("p1"), ended("p2")] })),
    ).rejects.toThrow();
    isDeaf = false;
    await repeating.write(batch({ retention, records: ["p1", "p2", "p3"].map(ended) }));
    expect(await keys()).toHaveLength(3);
    for (const id of ["p1", "p2", "p3"])
      expect((await archive.readHistory(id))?.content).toBe(`the end of ${id}`);
    expect((await archive.listHistory(EVERYTHING)).total).toBe(3);
  });

  test("continues the cleanup after the bucket was unavailable", async () => {
    const old = createPackKey(Date.now() - 3_600_000);
    await archive.write(batch({ retention, records: [write("outage")] }));
    await bucket().put(old, "nobody knows of this");
    const object = env.HISTORY.getByName("main");
    away("list");
    for (let failed = 0; failed < 8; failed += 1) expect(await runDurableObjectAlarm(object)).toBe(true);
    vi.restoreAllMocks();
    expect(await runDurableObjectAlarm(object)).toBe(true);
    expect(await keys()).not.toContain(old);
    expect(await keys()).toHaveLength(1);
  });

  test("finds orphans after a thousand stored packs, and ignores foreign objects", async () => {
    const object = env.HISTORY.getByName("main");
    const foreign = "history/notes.txt";
    const kept = createPackKey(Date.now() - 7_200_000);
    const old = createPackKey(Date.now() - 3_600_000);
    for (const key of [kept, old, foreign]) await bucket().put(key, "text");
    expect(await sweepPacks(onePerList(), new Set([kept]), Date.now())).toBe(false);
    expect((await keys()).sort()).toEqual([kept, foreign].sort());
    await runDurableObjectAlarm(object);
    expect(await runDurableObjectAlarm(object)).toBe(false);
  });

  test("looks for leftover objects also after a deletion, and after a smaller retention", async () => {
    const object = env.HISTORY.getByName("main");
    const rest = async () => {
      for (const key of await keys()) await bucket().delete(key);
      while (await runDurableObjectAlarm(object));
    };
    await archive.write(batch({ retention, records: [write("last-one")] }));
    await rest();
    await archive.deleteHistory("last-one");
    expect(await runDurableObjectAlarm(object)).toBe(true);
    await rest();
    await archive.applyRetention(retention);
    expect(await runDurableObjectAlarm(object)).toBe(true);
  });

  test("deletes old texts that are no longer stored or were never reported", async () => {
    const old = createPackKey(Date.now() - 3_600_000);
    await bucket().put(old, "nobody knows of this");
    const one = { ...retention, version: 2, records: 1 };
    await archive.write(batch({ retention: one, records: [write("kept-1")] }));
    await archive.write(batch({ retention: one, records: [write("kept-2")] }));
    expect(await keys()).toHaveLength(3);
    await runDurableObjectAlarm(env.HISTORY.getByName("main"));
    // The first pack is young: its isolate may still report it. So the sweep checks it again later.
    expect(await keys()).toHaveLength(2);
    expect(await keys()).not.toContain(old);
    expect(await runDurableObjectAlarm(env.HISTORY.getByName("main"))).toBe(true);
    expect((await archive.readHistory("kept-2"))?.prompt).toBe("prompt");
    // Isolates that know of a smaller retention tell of no records.
    await archive.write(batch({ retention: { ...one, version: 3, records: 0 } }));
    expect((await archive.listHistory(EVERYTHING)).total).toBe(0);
  });

  test("shows records from before the bucket was bound", async () => {
    const later = { ...retention, version: 4 };
    await env.HISTORY.getByName("main").write(
      batch({ retention: later, records: [write("old", { created_at: 5 })] }),
    );
    await archive.write(batch({ retention: later, records: [write("new", { created_at: 6 })] }));
    const { items } = await archive.listHistory(EVERYTHING);
    expect(items.map(({ id }) => id)).toEqual(["new", "old"]);
    expect((await archive.readHistory("old"))?.prompt).toBe("prompt");
  });
});
