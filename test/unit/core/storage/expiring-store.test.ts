import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ExpiringStore } from "../../../../src/core/storage/expiring-store.ts";
import type { Sql } from "../../../../src/core/storage/sql.ts";
import { memoryDatabase } from "../../records/archive/sqlite.ts";

interface Note {
  readonly id: string;
  readonly expiresAt: number;
  readonly text: string;
}

interface Kinds {
  readonly note: Note;
  readonly list: { readonly id: string; readonly expiresAt: number; readonly items: readonly number[] };
}

const note = (id: string, expiresAt: number, text = "hello"): Note => ({ id, expiresAt, text });
const QUOTA = { characters: 4_000_000, objects: 100 };
const keptIn = (sql: Sql, quota = QUOTA) => new ExpiringStore<Kinds>(sql, quota);
const tablesOf = (sql: Sql) =>
  sql.all("select name from sqlite_master where type='table' order by name").map((row) => row["name"]);

describe("a stored object", () => {
  it("is returned unchanged to its owner by kind and id, also after a restart", () => {
    const sql = memoryDatabase();
    const kept = keptIn(sql);
    kept.put("me", "note", note("a", 10));
    kept.put("me", "list", { id: "a", expiresAt: 10, items: [1, 2] });
    for (const any of [kept, keptIn(sql)]) {
      expect(any.get("me", "note", "a", 9)).toEqual(note("a", 10));
      expect(any.get("me", "list", "a", 9)).toEqual({ id: "a", expiresAt: 10, items: [1, 2] });
      expect(any.get("me", "note", "b", 9)).toBeNull();
      expect(any.get("you", "note", "a", 9)).toBeNull();
    }
  });

  it("is listed by owner and kind in the order of storage, without expired ones", () => {
    const kept = keptIn(memoryDatabase());
    expect(kept.list("me", "note", 0)).toEqual([]);
    for (const id of ["b", "a", "c"]) kept.put("me", "note", note(id, id === "a" ? 5 : 10));
    kept.put("you", "note", note("d", 10));
    kept.put("me", "list", { id: "e", expiresAt: 10, items: [] });
    kept.put("me", "note", note("b", 10, "again"));
    expect(kept.list("me", "note", 5)).toEqual([note("b", 10, "again"), note("c", 10)]);
  });

  it("is deleted when it is removed, and only then", () => {
    const kept = keptIn(memoryDatabase());
    kept.put("me", "note", note("a", 10));
    kept.put("you", "note", note("a", 10));
    expect(kept.remove("me", "note", "b", 9)).toBe(false);
    expect(kept.remove("me", "note", "a", 9)).toBe(true);
    expect(kept.remove("me", "note", "a", 9)).toBe(false);
    expect(kept.get("me", "note", "a", 9)).toBeNull();
    expect(kept.get("you", "note", "a", 9)).toEqual(note("a", 10));
    expect(kept.remove("you", "note", "a", 10)).toBe(false);
  });

  it("counts towards one limit for all callers without a key", () => {
    const kept = new ExpiringStore<Kinds>(memoryDatabase(), QUOTA, 10_000);
    kept.put("managed", "note", note("own", 10, "x".repeat(9_000)));
    const owners = Array.from({ length: 30 }, (_, index) => `stranger ${index}`);
    for (const owner of owners) kept.put(owner, "note", note("a", 10, "x".repeat(1_000)), true);
    kept.put("stranger 1", "list", { id: "last", expiresAt: 10, items: [] }, true);
    const left = owners.filter((owner) => kept.get(owner, "note", "a", 9) !== null);
    expect(left.length).toBeGreaterThan(0);
    expect(left).toEqual(owners.slice(-left.length));
    expect(left.length).toBeLessThan(17);
    expect(kept.get("managed", "note", "own", 9)).not.toBeNull();
  });

  it("counts towards a limit for its owner and kind: the oldest object is evicted as a whole", () => {
    const sql = memoryDatabase();
    const kept = keptIn(sql, { characters: 1_000, objects: 3 });
    const ids = (owner = "me") => kept.list(owner, "note", 0).map(({ id }) => id);
    kept.put("you", "note", note("x", 10));
    kept.put("me", "list", { id: "l", expiresAt: 10, items: [] });
    for (const id of ["a", "b", "c", "d"]) kept.put("me", "note", note(id, 10));
    expect(ids()).toEqual(["b", "c", "d"]);
    kept.put("me", "note", note("b", 10, "y".repeat(900)));
    expect(ids()).toEqual(["c", "d"]);
    kept.put("me", "note", note("e", 10, "y".repeat(960)));
    expect(ids()).toEqual(["e"]);
    kept.put("me", "note", note("f", 10, "y".repeat(1_000)));
    expect([ids(), ids("you"), kept.list("me", "list", 0).length]).toEqual([["e"], ["x"], 1]);
    expect(sql.all("select count(distinct owner) n from kept_text")).toEqual([{ n: 3 }]);
  });

  it("is counted in tables of versions without sizes", () => {
    const sql = memoryDatabase();
    sql.all(
      "create table kept_object(seq integer primary key, owner text not null, kind text not null, id text not null, expires integer not null, unique(owner, kind, id))",
    );
    sql.all("insert into kept_object(owner, kind, id, expires) values('me', 'note', 'old', 10)");
    const kept = keptIn(sql, { characters: 1_000, objects: 2 });
    for (const id of ["a", "b"]) kept.put("me", "note", note(id, 10));
    expect(kept.list("me", "note", 0).map(({ id }) => id)).toEqual(["a", "b"]);
  });

  it("is counted correctly after any storing, replacing, removing and expiring", () => {
    const step = fc.record({
      owner: fc.constantFrom("", "x"),
      id: fc.constantFrom("a", "b", "c", "d"),
      lives: fc.integer({ min: 0, max: 5 }),
      text: fc.string(),
      after: fc.constantFrom("nothing", "remove", "expire", "restart"),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const sql = memoryDatabase();
        const quota = { characters: 150, objects: 3 };
        let kept = keptIn(sql, quota);
        for (const [now, { owner, id, lives, text, after }] of steps.entries()) {
          kept.put(owner, "note", note(id, now + lives, text));
          if (after === "remove") kept.remove(owner, "note", id, now);
          if (after === "expire") kept.deleteExpired(now);
          if (after === "restart") kept = keptIn(sql, quota);
          expect(sql.all("select * from kept_total order by owner")).toEqual(
            sql.all(
              "select owner, kind, count(*) objects, sum(size) characters from kept_object group by owner, kind order by owner",
            ),
          );
        }
      }),
    );
  });

  it("is counted in tables of versions without totals, also while such a version runs", () => {
    const sql = memoryDatabase();
    const quota = { characters: 1_000, objects: 2 };
    keptIn(sql, quota).put("me", "note", note("a", 10));
    for (const name of ["kept_added", "kept_resized", "kept_removed"]) sql.all(`drop trigger ${name}`);
    sql.all("drop table kept_total");
    keptIn(sql, quota);
    sql.all("insert into kept_object(owner, kind, id, expires, size) values('me', 'note', 'b', 10, 5)");
    sql.all("insert into kept_text values('2', '', 0, '{\"id\":\"b\"}')");
    const kept = keptIn(sql, quota);
    kept.put("me", "note", note("c", 10));
    expect(kept.list("me", "note", 0).map(({ id }) => id)).toEqual(["b", "c"]);
  });

  it("is counted completely or not at all, wherever the count was interrupted", () => {
    for (let fails = 0; ; fails += 1) {
      const sql = memoryDatabase();
      keptIn(sql).put("me", "note", note("a", 10));
      for (const name of ["kept_added", "kept_resized", "kept_removed"]) sql.all(`drop trigger ${name}`);
      sql.all("drop table kept_total");
      let left = fails;
      const broken: Sql = {
        ...sql,
        all: (statement, ...values) => {
          if (left === 0) throw new Error("interrupted");
          left -= 1;
          return sql.all(statement, ...values);
        },
      };
      let isWhole = true;
      try {
        keptIn(broken);
      } catch {
        isWhole = false;
      }
      const made = sql.all("select name from sqlite_master where name='kept_total' or type='trigger'");
      expect([0, 4]).toContain(made.length);
      keptIn(sql).put("me", "note", note("b", 10));
      expect(sql.all("select objects from kept_total")).toEqual([{ objects: 2 }]);
      if (isWhole) break;
      expect(fails).toBeLessThan(50);
    }
  });

  it("may contain any text", () => {
    const kept = keptIn(memoryDatabase());
    const unit = fc.constantFrom("a", '"', "\\", "\0", "𝄞", "\ud834", "\udd1e", "\n");
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        kept.put("", "note", note("a", 10, text));
        expect(kept.get("", "note", "a", 9)).toEqual(note("a", 10, text));
      }),
    );
  });

  it("may be longer than a row, with any characters where it is split", () => {
    const kept = keptIn(memoryDatabase());
    for (const shift of ["", "x"]) {
      const long = note("a", 10, `${shift}${"\u{1f600}".repeat(450_000)}`);
      kept.put("", "note", long);
      expect(kept.get("", "note", "a", 9)?.text === long.text).toBe(true);
    }
  });

  it("is replaced by one with the same owner, kind and id", () => {
    const sql = memoryDatabase();
    const kept = keptIn(sql);
    kept.put("", "note", note("a", 10, "x".repeat(900_000)));
    kept.put("", "note", note("a", 20, "short"));
    expect(kept.get("", "note", "a", 15)).toEqual(note("a", 20, "short"));
    expect(sql.all("select count(*) n from kept_text")).toEqual([{ n: 1 }]);
  });

  it("is deleted completely when it expires", () => {
    const sql = memoryDatabase();
    const kept = keptIn(sql);
    kept.put("", "note", note("a", 10));
    kept.put("you", "note", note("b", 20));
    kept.put("", "list", { id: "c", expiresAt: 15, items: [] });
    expect(kept.get("", "note", "a", 10)).toBeNull();
    expect(kept.deleteExpired(9)).toBe(10);
    expect(kept.deleteExpired(10)).toBe(15);
    expect(kept.deleteExpired(16)).toBe(20);
    expect(sql.all("select id from kept_object")).toEqual([{ id: "b" }]);
    expect(sql.all("select count(*) n from kept_text")).toEqual([{ n: 1 }]);
    expect(kept.deleteExpired(20)).toBeNull();
    expect(sql.all("select count(*) n from kept_text")).toEqual([{ n: 0 }]);
    kept.put("", "note", note("d", 30));
    expect(kept.get("", "note", "d", 29)).toEqual(note("d", 30));
  });

  it("behaves like an entry of a plain map for any order of calls", () => {
    const step = fc.record({
      owner: fc.constantFrom("", "x"),
      id: fc.constantFrom("a", "b"),
      lives: fc.integer({ min: 0, max: 5 }),
      text: fc.string(),
      expire: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const kept = keptIn(memoryDatabase());
        const model = new Map<string, Note>();
        for (const [now, { owner, id, lives, text, expire }] of steps.entries()) {
          const value = note(id, now + lives, text);
          kept.put(owner, "note", value);
          model.set(`${owner}/${id}`, value);
          const alive = [...model.values()].filter(({ expiresAt }) => expiresAt > now);
          if (expire) {
            const next = alive.length === 0 ? null : Math.min(...alive.map(({ expiresAt }) => expiresAt));
            expect(kept.deleteExpired(now)).toBe(next);
          }
          for (const [key, known] of model) {
            const [whose = "", name = ""] = key.split("/");
            expect(kept.get(whose, "note", name, now)).toEqual(known.expiresAt > now ? known : null);
          }
        }
      }),
    );
  });

  it("creates no tables before the first write", () => {
    const sql = memoryDatabase();
    const kept = keptIn(sql);
    expect(kept.get("", "note", "a", 0)).toBeNull();
    expect(kept.deleteExpired(0)).toBeNull();
    expect(tablesOf(sql)).toEqual([]);
  });
});

describe("data of version 3.0", () => {
  /** As a Durable Object had them. */
  function objectDatabase(): Sql {
    const sql = memoryDatabase();
    sql.all("create table response(id text primary key, expires integer not null)");
    sql.all(
      "create table piece(id text not null, n integer not null, text text not null, primary key(id, n))",
    );
    sql.all("create index response_expires on response(expires)");
    sql.all("create table file(id text primary key, expires integer not null, text text not null)");
    return sql;
  }
  const keptFrom = (sql: Sql) => new ExpiringStore<{ response: Note; file: Note }>(sql, QUOTA);

  it("is migrated from a Durable Object, piece by piece", () => {
    const sql = objectDatabase();
    const response = note("resp", 10, "x".repeat(100));
    const json = JSON.stringify(response);
    sql.all("insert into response values('resp', 10), ('resp2', 20)");
    sql.all("insert into piece values('resp', 0, ?), ('resp', 1, ?)", json.slice(0, 40), json.slice(40));
    sql.all("insert into piece values('resp2', 0, ?)", JSON.stringify(note("resp2", 20)));
    sql.all("insert into file values('file', 30, ?)", JSON.stringify(note("file", 30)));
    for (const kept of [keptFrom(sql), keptFrom(sql)]) {
      expect(kept.get("", "response", "resp", 9)).toEqual(response);
      expect(kept.get("", "response", "resp2", 19)).toEqual(note("resp2", 20));
      expect(kept.get("", "file", "file", 29)).toEqual(note("file", 30));
    }
    expect(tablesOf(sql)).toEqual(["kept_object", "kept_text", "kept_total"]);
    expect(sql.all("select kind, objects from kept_total order by kind")).toEqual([
      { kind: "file", objects: 1 },
      { kind: "response", objects: 2 },
    ]);
    expect(keptFrom(sql).deleteExpired(10)).toBe(20);
  });

  it("is migrated from an object without files", () => {
    const sql = objectDatabase();
    sql.all("drop table file");
    sql.all("insert into response values('resp', 10)");
    sql.all("insert into piece values('resp', 0, ?)", JSON.stringify(note("resp", 10)));
    expect(keptFrom(sql).get("", "response", "resp", 9)).toEqual(note("resp", 10));
  });

  it("is migrated from a process, whose archive keeps its own pieces", () => {
    const sql = memoryDatabase();
    sql.all("create table piece(owner text, name text, n integer, text text)");
    sql.all("insert into piece values('record', 'input', 0, 'archived')");
    sql.all(
      "create table kept(owner text not null, kind text not null, id text not null, expires integer not null, text text not null, primary key(owner, kind, id)) without rowid",
    );
    const insert = (owner: string, kind: string, value: Note) =>
      sql.all(
        "insert into kept values(?,?,?,?,?)",
        owner,
        kind,
        value.id,
        value.expiresAt,
        JSON.stringify(value),
      );
    insert("me", "response", note("a", 10, "mine"));
    insert("you", "response", note("a", 20, "yours"));
    insert("me", "file", note("a", 30, "file"));
    const kept = keptFrom(sql);
    expect(kept.get("me", "response", "a", 9)).toEqual(note("a", 10, "mine"));
    expect(kept.get("you", "response", "a", 9)).toEqual(note("a", 20, "yours"));
    expect(kept.get("me", "file", "a", 9)).toEqual(note("a", 30, "file"));
    expect(tablesOf(sql)).toEqual(["kept_object", "kept_text", "kept_total", "piece"]);
    expect(sql.all("select text from piece")).toEqual([{ text: "archived" }]);
  });

  it("does not replace newer data, as after a return to the old version", () => {
    const sql = memoryDatabase();
    const newer = note("resp", 10);
    keptFrom(sql).put("", "response", newer);
    sql.all("create table response(id text primary key, expires integer not null)");
    sql.all(
      "create table piece(id text not null, n integer not null, text text not null, primary key(id, n))",
    );
    sql.all("insert into response values('resp', 5)");
    sql.all("insert into piece values('resp', 0, 'half'), ('resp', 1, 'of it')");
    expect(keptFrom(sql).get("", "response", "resp", 9)).toEqual(newer);
  });
});
