import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { imageSize } from "../../../../../src/pages/thumbnails/image-size.ts";
import { encodeFullColour } from "../../../../../src/pages/thumbnails/jpeg/encode.ts";
import { huffmanTable } from "../../../../../src/pages/thumbnails/jpeg/huffman.ts";
import { colourSampling, decode, type Picture } from "../../../../support/pages.ts";

type Painter = (x: number, y: number) => readonly [number, number, number];

const painted = (width: number, height: number, paint: Painter): Picture => {
  const data = new Uint8ClampedArray(width * height * 4);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) data.set([...paint(x, y), 255], (y * width + x) * 4);
  }
  return { width, height, data };
};
const scattered = (x: number, y: number) => Math.imul(x * 31 + y * 977 + 7, 0x9e3779b1) >>> 8;
const PAINTERS: Readonly<Record<string, Painter>> = {
  "one colour": () => [200, 30, 90],
  "colours side by side": (x, y) => ((x >> 2) % 2 === (y >> 2) % 2 ? [255, 0, 0] : [0, 80, 255]),
  noise: (x, y) => [scattered(x, y) & 255, (scattered(x, y) >> 8) & 255, scattered(y, x) & 255],
};

async function encoded(image: Picture, quality: number) {
  const bytes = encodeFullColour(image, quality);
  const decoded = await decode(bytes.slice().buffer);
  const squares = image.data.reduce((sum, value, at) => sum + (value - (decoded.data[at] ?? 0)) ** 2, 0);
  return { bytes, decoded, error: Math.sqrt(squares / image.data.length) };
}

describe("encodeFullColour", () => {
  it.each(Object.keys(PAINTERS))(
    "keeps %s as they are at the best quality, whatever the size",
    async (name) => {
      const paint = PAINTERS[name] ?? (() => [0, 0, 0]);
      for (const [width, height] of [
        [1, 1],
        [8, 8],
        [17, 9],
        [64, 100],
      ] as const) {
        const { bytes, decoded, error } = await encoded(painted(width, height, paint), 100);
        expect(decoded).toMatchObject({ format: "jpeg", width, height });
        expect(imageSize(bytes)).toEqual({ width, height });
        expect(colourSampling(bytes.slice().buffer)).toBe("4:4:4");
        expect(error).toBeLessThan(1.5);
      }
    },
  );

  it("makes fewer bytes of a lower quality, and a worse likeness", async () => {
    const image = painted(96, 96, (x, y) => [scattered(x >> 2, y >> 2) & 255, x * 2, y * 2]);
    const outcomes = await Promise.all([100, 95, 90, 50, 1].map((quality) => encoded(image, quality)));
    const sizes = outcomes.map(({ bytes }) => bytes.length);
    const errors = outcomes.map(({ error }) => error);
    expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
    expect(errors).toEqual(errors.toSorted((a, b) => a - b));
  });
});

describe("huffmanTable", () => {
  it("gives each symbol that occurs a code of its own, which begins no other one", () => {
    const weight = fc.oneof(
      fc.constant(0),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 2 ** 28 }),
    );
    fc.assert(
      fc.property(fc.array(weight, { maxLength: 256 }), (frequencies) => {
        const { counts, symbols, codes, lengths } = huffmanTable(frequencies);
        expect(symbols.toSorted((a, b) => a - b)).toEqual(
          frequencies.flatMap((count, symbol) => (count > 0 ? [symbol] : [])),
        );
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(symbols.length);
        const texts = symbols.map((symbol) =>
          (codes[symbol] ?? 0).toString(2).padStart(lengths[symbol] ?? 0, "0"),
        );
        // Codes in order begin others only next to them; none consists of ones alone.
        const inOrder = texts.toSorted();
        for (const [at, text] of inOrder.entries()) {
          expect(inOrder[at + 1]?.startsWith(text)).not.toBe(true);
          expect(text).toMatch(/^[01]{0,15}0[01]{0,15}$/);
          expect(text.length).toBeLessThanOrEqual(16);
        }
      }),
    );
  });

  it("bounds codes of symbols that occur ever more rarely, and gives those that occur often the shortest", () => {
    const { lengths } = huffmanTable(Array.from({ length: 31 }, (_, index) => 2 ** index));
    expect(Math.max(...lengths)).toBe(16);
    expect(lengths[30]).toBe(1);
  });
});
