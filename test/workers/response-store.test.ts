import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import type { StoredResponse } from "../../src/core/ports/responses.ts";
import { ExpiringStore } from "../../src/core/storage/expiring-store.ts";
import type { SqlValue } from "../../src/core/storage/sql.ts";

const stub = (owner: string) => env.RESPONSE_STORE.getByName(owner);

function response(id: string, livesMs: number, text = "hello"): StoredResponse {
  return {
    id,
    body: JSON.stringify({ id, text }),
    messages: [{ role: "user", parts: [{ type: "text", text }] }],
    expiresAt: Date.now() + livesMs,
  };
}

describe("the response store", () => {
  test("returns stored responses, also after a restart", async () => {
    const kept = response("resp_a", 60_000);
    await stub("restart").put(kept, 0);
    expect(await stub("restart").get("resp_a")).toEqual(kept);
    await abortAllDurableObjects();
    expect(await stub("restart").get("resp_a")).toEqual(kept);
    expect(await stub("restart").get("resp_b")).toBeNull();
    expect(await stub("someone-else").get("resp_a")).toBeNull();
  });

  test("stores texts beyond the size of a row, with any characters where they are split", async () => {
    for (const shift of ["", "x"]) {
      const kept = response("resp_large", 60_000, `${shift}${"\u{1f600}".repeat(1_200_000)}`);
      await stub("large").put(kept, 0);
      const read = await stub("large").get("resp_large");
      expect(read?.body === kept.body).toBe(true);
      expect(JSON.stringify(read?.messages) === JSON.stringify(kept.messages)).toBe(true);
    }
  });

  test("replaces a response of the same id", async () => {
    await stub("replace").put(response("resp_a", 60_000, "x".repeat(1_200_000)), 0);
    const kept = response("resp_a", 60_000, "short");
    await stub("replace").put(kept, 0);
    expect(await stub("replace").get("resp_a")).toEqual(kept);
  });

  test("reads and writes as many rows for a response with a thousand stored ones as with few", async () => {
    await runInDurableObject(stub("rows"), (_, { storage }) => {
      let rows = 0;
      const kept = new ExpiringStore<{ response: StoredResponse }>(
        {
          all: (statement, ...values) => {
            const cursor = storage.sql.exec<Record<string, SqlValue>>(statement, ...values);
            const found = cursor.toArray();
            rows += cursor.rowsRead + cursor.rowsWritten;
            return found;
          },
          transaction: (work) => storage.transactionSync(work),
        },
        { objects: 1_000, characters: 1_000_000 },
      );
      const put = (from: number, to: number) => {
        rows = 0;
        for (let n = from; n < to; n += 1) kept.put("", "response", response(`resp_${n}`, 60_000));
        return rows / (to - from);
      };
      put(0, 10);
      const few = put(10, 20);
      put(20, 1_000);
      // One goes for each that comes: its rows are looked for and written, too.
      expect(put(1_000, 1_010)).toBeLessThan(3 * few);
      expect(kept.get("", "response", "resp_9", 0)).toBeNull();
      expect(kept.get("", "response", "resp_10", 0)).not.toBeNull();
    });
  });

  test("deletes expired responses, and keeps the rest", async () => {
    const store = stub("expiry");
    await store.put(response("resp_old", -1), 0);
    const kept = response("resp_new", 60_000);
    await store.put(kept, 0);
    expect(await store.get("resp_old")).toBeNull();
    await runDurableObjectAlarm(store);
    const rows = await runInDurableObject(store, (_, { storage }) =>
      storage.sql
        .exec("select id, n from kept_object join kept_text texts on texts.owner = cast(seq as text)")
        .toArray(),
    );
    expect(rows).toEqual([{ id: "resp_new", n: 0 }]);
    expect(await store.get("resp_new")).toEqual(kept);
  });

  test("drops its tables once all responses have expired, and can be used again", async () => {
    const store = stub("empty");
    await store.put(response("resp_a", -1), 0);
    await runDurableObjectAlarm(store);
    const tables = await runInDurableObject(store, (_, { storage }) =>
      storage.sql.exec("select name from sqlite_master where name like 'kept%'").toArray(),
    );
    expect(tables).toEqual([]);
    expect(await store.get("resp_a")).toBeNull();
    const kept = response("resp_b", 60_000);
    await store.put(kept, 0);
    expect(await store.get("resp_b")).toEqual(kept);
  });

  test("stores nothing for a caller that only reads", async () => {
    expect(await stub("curious").get("resp_a")).toBeNull();
    const tables = await runInDurableObject(stub("curious"), (_, { storage }) =>
      storage.sql.exec("select name from sqlite_master where name like 'kept%'").toArray(),
    );
    expect(tables).toEqual([]);
  });

  test("stores files beside responses, each until it expires", async () => {
    const file = (id: string, livesMs: number) => ({
      id,
      account: "one@example.org",
      filename: "a.txt",
      mediaType: "text/plain",
      purpose: "user_data",
      bytes: 3,
      createdAt: 1,
      expiresAt: Date.now() + livesMs,
    });
    const store = stub("files");
    const kept = file("file-new", 120_000);
    await store.putFile(kept, 0);
    await store.putFile(file("file-old", -1), 0);
    await store.put(response("resp_a", -1), 0);
    expect(await store.getFile("file-new")).toEqual(kept);
    expect(await store.getFile("file-old")).toBeNull();
    expect(await store.listFiles()).toEqual([kept]);
    expect(await stub("someone-else").getFile("file-new")).toBeNull();
    await runDurableObjectAlarm(store);
    const rows = await runInDurableObject(store, (_, { storage }) =>
      storage.sql.exec<{ id: string }>("select id from kept_object").toArray(),
    );
    expect(rows).toEqual([{ id: "file-new" }]);
    await abortAllDurableObjects();
    expect(await stub("files").getFile("file-new")).toEqual(kept);
  });

  test("migrates the data of version 3.0, and deletes what has expired", async () => {
    const kept = response("resp_a", 60_000);
    await runInDurableObject(stub("older"), async (_, { storage }) => {
      const { sql } = storage;
      sql.exec(
        `create table response(id text primary key, expires integer not null);
         create table piece(id text not null, n integer not null, text text not null, primary key(id, n));
         create index response_expires on response(expires);
         create table file(id text primary key, expires integer not null, text text not null)`,
      );
      const text = JSON.stringify(kept);
      sql.exec("insert into response values(?,?), ('resp_old', 1)", kept.id, kept.expiresAt);
      sql.exec("insert into piece values('resp_old', 0, '{}'), (?,0,?)", kept.id, text.slice(0, 20));
      sql.exec("insert into piece values(?,1,?)", kept.id, text.slice(20));
      await storage.setAlarm(kept.expiresAt);
    });
    await abortAllDurableObjects();
    const store = stub("older");
    expect(await store.get("resp_a")).toEqual(kept);
    expect(await store.get("resp_old")).toBeNull();
    await runDurableObjectAlarm(store);
    const rows = await runInDurableObject(store, (_, { storage }) =>
      storage.sql.exec("select id from kept_object").toArray(),
    );
    expect(rows).toEqual([{ id: "resp_a" }]);
  });
});
