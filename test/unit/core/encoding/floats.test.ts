import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeFloats, encodeFloats } from "../../../../src/core/encoding/floats.ts";

describe("32-bit floats as base64", () => {
  it("have their low byte first", () => {
    expect(encodeFloats([1, -0.5])).toBe(Buffer.from("0000803f000000bf", "hex").toString("base64"));
  });

  it("decode to the same numbers", () => {
    fc.assert(
      fc.property(fc.float32Array({ minLength: 1 }), (numbers) => {
        expect(decodeFloats(encodeFloats(numbers))).toEqual(numbers);
      }),
    );
  });

  it("are rounded to 32 bits", () => {
    expect(decodeFloats(encodeFloats([0.1]))).toEqual(Float32Array.of(0.1));
  });

  it.each([
    ["nothing", ""],
    ["no base64", "%%%"],
    ["a part of a float", Buffer.from("abcde").toString("base64")],
  ])("are not %s", (_, text) => {
    expect(decodeFloats(text)).toBeNull();
  });
});
