import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitText, TextTable, truncateText } from "../../../../src/core/storage/text-table.ts";
import { memoryDatabase } from "../../records/archive/sqlite.ts";

const wellFormed = fc.string({ unit: fc.constantFrom("a", "ü", "𝄞", "😀") });
/** Any characters, halves of pairs among them. */
const anything = fc.string({ unit: fc.constantFrom("a", "𝄞", "\ud834", "\udd1e") });

describe("the pieces of a text", () => {
  it("form the text again, and all but the last have the maximum length", () => {
    fc.assert(
      fc.property(anything, fc.integer({ min: 2, max: 9 }), (text, size) => {
        const pieces = [...splitText(text, size)];
        expect(pieces.join("")).toBe(text);
        for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(size);
        for (const piece of pieces.slice(0, -1)) expect(piece.length).toBeGreaterThanOrEqual(size - 1);
      }),
    );
  });

  it("can each be stored as UTF-8, wherever the text is split", () => {
    fc.assert(
      fc.property(wellFormed, fc.integer({ min: 2, max: 9 }), (text, size) => {
        for (const piece of splitText(text, size)) expect(piece.isWellFormed()).toBe(true);
      }),
    );
  });

  it("do not exist for an empty text", () => {
    expect([...splitText("", 2)]).toEqual([]);
  });
});

describe("a text cut short", () => {
  it("ends with a whole character", () => {
    fc.assert(
      fc.property(wellFormed, fc.nat(9), (text, limit) => {
        const cut = truncateText(text, limit);
        expect(text.startsWith(cut)).toBe(true);
        expect(cut.isWellFormed()).toBe(true);
        expect(cut.length).toBeLessThanOrEqual(limit);
        expect(cut.length).toBeGreaterThanOrEqual(Math.min(text.length, limit - 1));
      }),
    );
  });
});

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
