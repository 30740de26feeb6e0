import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { StoredResponse } from "../../../../src/core/ports/responses.ts";
import { CallerObjectStore } from "../../../../src/runtime/deno/caller-object-store.ts";
import { Database } from "../../../../src/runtime/deno/database.ts";
import { RateLimits } from "../../../../src/runtime/deno/rate-limits.ts";
import { createWatchStateStore } from "../../../../src/runtime/deno/watch-state-store.ts";

const folder = mkdtempSync(join(tmpdir(), "polygate-storage-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
let path: string;
beforeEach(() => {
  files += 1;
  path = join(folder, `${files}.db`);
});

describe("the database", () => {
  it("returns every text unchanged", () => {
    const database = new Database(path);
    database.all("create table t(text text)");
    const texts = fc.string({ unit: "grapheme" }).filter((text) => text.isWellFormed());
    fc.assert(
      fc.property(
        fc.oneof(
          texts,
          texts.map((text) => `${text}\0${text}`),
        ),
        (text) => {
          database.all("delete from t");
          database.all("insert into t values(?)", text);
          expect(database.all("select text from t")).toEqual([{ text }]);
        },
      ),
    );
    database.close();
  });

  it("reads numbers of any size as the nearest double", () => {
    const database = new Database(path);
    database.all("create table t(n integer not null)");
    const numbers = [0, -5, 2 ** 53 - 1, 2 ** 53, 2 ** 53 + 2, 2 ** 62, -(2 ** 63), 1e30, 1e308];
    for (const number of numbers) database.all("insert into t values(?)", number);
    database.all("insert into t values(9007199254740993)");
    const rows = database.all("select n from t").map(({ n }) => n);
    expect(rows).toEqual([...numbers, 2 ** 53]);
    database.close();
  });

  it("stores a transaction completely or not at all", () => {
    const database = new Database(path);
    database.all("create table t(n integer)");
    const half = () => {
      database.all("insert into t values(1)");
      throw new Error("half way");
    };
    expect(() => database.transaction(half)).toThrow("half way");
    expect(database.all("select * from t")).toEqual([]);
    database.transaction(() => database.all("insert into t values(2)"));
    expect(database.all("select * from t")).toEqual([{ n: 2 }]);
    database.close();
  });

  it("rolls back a nested transaction with the outer one", () => {
    const database = new Database(path);
    database.all("create table t(n integer)");
    const half = () => {
      database.transaction(() => database.all("insert into t values(1)"));
      throw new Error("half way");
    };
    expect(() => database.transaction(half)).toThrow("half way");
    expect(database.all("select * from t")).toEqual([]);
    database.close();
  });

  it("reports that it is full, rolls back the transaction, and continues when there is space", () => {
    const database = new Database(path);
    database.all("create table t(text text)");
    const insert = () => database.all("insert into t values(?)", "x".repeat(100_000));
    const insertTwice = () =>
      database.transaction(() => {
        database.all("insert into t values('y')");
        insert();
      });
    const [pages] = database.all("pragma page_count");
    database.all(`pragma max_page_count = ${pages?.["page_count"]}`);
    expect(insert).toThrow("database or disk is full");
    expect(insertTwice).toThrow("database or disk is full");
    expect(database.all("select * from t")).toEqual([]);
    database.all("pragma max_page_count = 1000");
    insert();
    insertTwice();
    expect(database.all("select count(*) as n from t")).toEqual([{ n: 3 }]);
    database.close();
  });
});

describe("the state of alerts", () => {
  it("is the same after a restart", () => {
    const alert = { kind: "empty_pool", subject: "", message: "none", value: 0, threshold: 1 } as const;
    const state = { told: { "empty_pool ": { alert, since: 1, at: 2 } }, messages: [], rates: [] };
    const first = new Database(path);
    expect(createWatchStateStore(first).load()).toBeNull();
    createWatchStateStore(first).save({ told: {}, messages: [], rates: [] });
    createWatchStateStore(first).save(state);
    first.close();
    const second = new Database(path);
    expect(createWatchStateStore(second).load()).toEqual(state);
    second.close();
  });
});

const response = (id: string, expiresAt: number): StoredResponse => ({
  id,
  body: JSON.stringify({ id, text: "half a pair: \ud800, and a NUL: \0" }),
  messages: [{ role: "user", parts: [{ type: "text", text: "hi" }] }],
  expiresAt,
});

const QUOTA = { characters: 1_000, objects: 10 };

describe("the store of callers' objects", () => {
  it("stores nothing for requests that began before an erasure, also after a restart", async () => {
    const at = 5_000;
    const open = (database: Database) =>
      new CallerObjectStore(
        database,
        QUOTA,
        () => at,
        async () => true,
      );
    const database = new Database(path);
    const kept = open(database);
    const [before, claim] = [at - 1, { id: "key", fingerprint: "f", holder: "h" }];
    await kept.responses("a", before).put(response("early", 200_000));
    expect(await kept.erase("a")).toBe(1);
    expect(await kept.erase("a")).toBe(0);
    await kept.replays("a", before).claim(claim);
    await kept.replays("a", before).settle(claim, { status: 200, headers: {}, body: "answer" });
    database.close();
    const reopened = new Database(path);
    const again = open(reopened);
    await again.responses("a", before).put(response("late", 200_000));
    await again.responses("b", before).put(response("of another", 200_000));
    await again.responses("a", at + 1).put(response("new", 200_000));
    const ids = reopened.all("select id from kept_object where kind<>'erasure' order by id");
    expect(ids).toEqual([{ id: "new" }, { id: "of another" }]);
    reopened.close();
  });

  it("is limited for all unknown callers together, who evict nothing of a managed key", async () => {
    const database = new Database(path);
    const kept = new CallerObjectStore(
      database,
      QUOTA,
      () => 1_000,
      async (owner) => owner === "managed",
    );
    await kept.responses("managed", 0).put(response("own", 2_000));
    for (let stranger = 0; stranger < 50; stranger += 1) {
      await kept.responses(`stranger ${stranger}`, 0).put(response("r", 2_000));
    }
    expect(await kept.responses("stranger 0", 0).get("r")).toBeNull();
    expect(await kept.responses("managed", 0).get("own")).toEqual(response("own", 2_000));
    expect(database.all("select count(*) n from kept_object")).not.toEqual([{ n: 51 }]);
    database.close();
  });

  it("keeps an object for its owner only, until it expires, also after a restart", async () => {
    let now = 1_000;
    const isManaged = async (owner: string) => owner === "a";
    const database = new Database(path);
    const kept = new CallerObjectStore(database, QUOTA, () => now, isManaged);
    await kept.responses("a", 0).put(response("r", 2_000));
    database.close();
    const reopened = new Database(path);
    const again = new CallerObjectStore(reopened, QUOTA, () => now, isManaged);
    expect(await again.responses("a", 0).get("r")).toEqual(response("r", 2_000));
    expect(await again.responses("b", 0).get("r")).toBeNull();
    expect(await again.files("a", 0).get("r")).toBeNull();
    now = 2_000;
    expect(await again.responses("a", 0).get("r")).toBeNull();
    now = 100_000;
    await again.responses("b", 0).put(response("other", 200_000));
    expect(reopened.all("select id from kept_object")).toEqual([{ id: "other" }]);
    reopened.close();
  });
});

describe("the page service's rate limits", () => {
  it("continue after a restart, and forget inactive clients", () => {
    let now = 1_000_000;
    const database = new Database(path);
    const before = new RateLimits(database, () => now);
    expect(before.take("a", 2).allowed).toBe(true);
    expect(before.take("a", 2).allowed).toBe(true);
    const after = new RateLimits(database, () => now);
    expect(after.take("a", 2).allowed).toBe(false);
    expect(after.take("b", 2).allowed).toBe(true);
    now += 120_000;
    expect(after.take("b", 2)).toMatchObject({ allowed: true, remaining: 1 });
    expect(database.all("select client from rate")).toEqual([{ client: "b" }]);
    database.close();
  });

  it("are counted for a limited number of clients, and forget the least recently seen ones", () => {
    const database = new Database(path);
    const limits = new RateLimits(database, () => 1_000_000, 3);
    for (const client of ["a", "b", "a", "c", "d"]) limits.take(client, 2);
    expect(limits.take("a", 2).allowed).toBe(false);
    expect(database.all("select client from rate order by client")).toEqual(
      ["a", "c", "d"].map((client) => ({ client })),
    );
    expect(limits.take("b", 2)).toMatchObject({ allowed: true, remaining: 1 });
    database.close();
  });
});
