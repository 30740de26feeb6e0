import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitText, truncateText } from "../../../../src/core/encoding/text-slices.ts";

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
