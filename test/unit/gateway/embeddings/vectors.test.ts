import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { embedTokens, tokenizeText } from "../../../../src/gateway/embeddings/vectors.ts";

const of = (text: string, dimensions = 1536) => embedTokens(tokenizeText(text), dimensions);
const dot = (a: Float64Array, b: Float64Array) =>
  a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);

describe("local embeddings", () => {
  it("are vectors of unit length with the dimensions asked for, for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 3072 }), (text, dimensions) => {
        const vector = of(text, dimensions);
        expect(vector).toHaveLength(dimensions);
        expect(Math.sqrt(dot(vector, vector))).toBeCloseTo(1, 9);
      }),
    );
  });

  it("are the same for the same text", () => {
    expect(of("the quick brown fox")).toEqual(of("the quick brown fox"));
  });

  it("are similar for texts that share words, and different for others", () => {
    const base = of("how do I reset my account password");
    const near = dot(base, of("reset the password of an account"));
    const far = dot(base, of("bananas grow in tropical climates"));
    expect(near).toBeGreaterThan(far + 0.2);
  });
});
