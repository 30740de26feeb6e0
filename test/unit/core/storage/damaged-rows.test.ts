import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { quarantineDamagedRows } from "../../../../src/core/storage/damaged-rows.ts";
import "../../../support/properties.ts";
import { memoryDatabase } from "../../records/archive/sqlite.ts";

const CHECK = { table: "t", numbers: { n: null, small: 10 }, json: { o: "object", a: "array" } } as const;

let written: string[];
beforeEach(() => {
  written = [];
  vi.spyOn(console, "error").mockImplementation((line) => written.push(String(line)));
});
afterEach(() => vi.restoreAllMocks());

function table() {
  const sql = memoryDatabase();
  sql.all(
    "create table t(id text primary key, n integer, small integer, o text not null, a text not null) without rowid",
  );
  const add = (n: string, small = "1", o = "'{}'", a = "'[]'") => {
    const id = `row ${sql.all("select count(*) as n from t")[0]?.["n"]}`;
    sql.all(`insert into t values(?, ${n}, ${small}, ${o}, ${a})`, id);
    return id;
  };
  return { sql, add, ids: () => sql.all("select id from t order by id").map(({ id }) => id) };
}

describe("damaged rows", () => {
  it("are moved to a separate table with their content, and are logged", () => {
    const { sql, add, ids } = table();
    const sound = [add("0"), add("null"), add("9007199254740992"), add("1e30"), add("5", "10", "''", "''")];
    const damaged: [string, string[]][] = [
      [`"n":"'text'"`, ["'text'"]],
      ['"n":"-1"', ["-1"]],
      [`"n":"X'00FF'"`, ["x'00FF'"]],
      ['"n":"9.0e+999"', ["9e999"]],
      ['"n":"1.0e+308"', ["1e308"]],
      ['"small":"11"', ["1", "11"]],
      [`"o":"'{'"`, ["1", "1", "'{'"]],
      [`"o":"'[]'"`, ["1", "1", "'[]'"]],
      [`"a":"'null'"`, ["1", "1", "'{}'", "'null'"]],
    ];
    const expected = damaged.map(([literal, [n = "", ...rest]]) => [add(n, ...rest), literal] as const);
    expect(quarantineDamagedRows(sql, [CHECK])).toBe(damaged.length);
    expect(ids()).toEqual(sound);
    const rows = sql.all("select source, row from set_aside");
    expect(rows).toHaveLength(damaged.length);
    for (const [id, literal] of expected) {
      const found = rows.find(({ row }) => String(row).includes(`'${id}'`));
      expect(found).toEqual({ source: "t", row: expect.stringContaining(literal) });
    }
    expect(written.map((line) => JSON.parse(line))).toEqual([
      { at: expect.any(String), damaged_rows: damaged.length, table: "t", kept_in: "set_aside" },
    ]);
    expect(quarantineDamagedRows(sql, [CHECK])).toBe(0);
    expect(written).toHaveLength(1);
  });

  it("are never written by the program itself", () => {
    const amount = fc.double({ min: 0, max: 1e60, noNaN: true });
    fc.assert(
      fc.property(fc.array(fc.tuple(amount, fc.jsonValue()), { maxLength: 10 }), (rows) => {
        const { sql } = table();
        for (const [index, [n, value]] of rows.entries()) {
          const [o, a] = [JSON.stringify({ value }), JSON.stringify([value])];
          sql.all("insert into t values(?, ?, 1, ?, ?)", String(index), n, o, a);
        }
        expect(quarantineDamagedRows(sql, [CHECK])).toBe(0);
      }),
    );
  });
});
