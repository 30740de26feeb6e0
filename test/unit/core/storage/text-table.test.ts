import { describe, expect, it } from "vitest";
import { TextTable } from "../../../../src/core/storage/text-table.ts";
import { memoryDatabase } from "../../records/archive/sqlite.ts";

describe("a table of texts", () => {
  it("keeps long texts unchanged, with any characters where a piece ends", () => {
    const texts = new TextTable(memoryDatabase(), "t");
    for (const shift of ["", "x"]) {
      const text = `${shift}${"\u{1f600}".repeat(450_000)}`;
      texts.put("owner", "name", text);
      expect(texts.get("owner", "name") === text).toBe(true);
    }
  });

  it("stores many texts at once, also long ones", () => {
    const texts = new TextTable(memoryDatabase(), "t");
    const given = { none: "", long: "\u{1f600}".repeat(2_500_000), short: "x", other: "y".repeat(400_001) };
    texts.insertAll([["owner", given]]);
    for (const [name, text] of Object.entries(given)) expect(texts.get("owner", name) === text).toBe(true);
  });

  it("replaces a text by a shorter one", () => {
    const texts = new TextTable(memoryDatabase(), "t");
    texts.put("owner", "name", "x".repeat(900_000));
    texts.put("owner", "name", "short");
    texts.put("owner", "other", "stays");
    expect(texts.get("owner", "name")).toBe("short");
    expect(texts.get("owner", "other")).toBe("stays");
    texts.delete("owner");
    expect(texts.get("owner", "name")).toBe("");
  });

  it("is separate from tables with other names", () => {
    const sql = memoryDatabase();
    new TextTable(sql, "one").put("owner", "name", "one");
    expect(new TextTable(sql, "two").get("owner", "name")).toBe("");
    expect(new TextTable(sql, "one").get("owner", "name")).toBe("one");
  });
});
