import { expect, it } from "vitest";
import { ByteCollector } from "../../../../src/core/encoding/byte-collector.ts";
import { concatBytes } from "../../../../src/core/encoding/bytes.ts";

/** A piece as Deno reads it: a few bytes of a buffer of 64 KiB. */
function view(length: number, first: number): Uint8Array {
  const bytes = new Uint8Array(64 * 1024).subarray(0, length);
  for (let index = 0; index < length; index += 1) bytes[index] = (first + index) % 251;
  return bytes;
}

it("returns the same bytes in their order, whatever the sizes of the pieces", () => {
  const lengths = [1, 0, 3, 255, 256, 257, 5_000, 40_000, 2, 64_000, 1, 300];
  const pieces = lengths.map((length, index) => view(length, index));
  const collector = new ByteCollector();
  for (const bytes of pieces) collector.push(bytes);
  const expected = concatBytes(pieces);
  expect(collector.length).toBe(expected.length);
  expect(collector.join()).toEqual(expected);
  expect(concatBytes(collector.take())).toEqual(expected);
  expect(collector.length).toBe(0);
  expect(collector.take()).toEqual([]);
  collector.push(view(2, 9));
  expect(collector.join()).toEqual(new Uint8Array([9, 10]));
});

it.each([1, 100, 1_000, 10_000])(
  "needs little more memory than the bytes of pieces of %d bytes",
  (length) => {
    const collector = new ByteCollector();
    const piece = view(length, 0);
    for (let sum = 0; sum < 1_000_000; sum += length) collector.push(piece);
    const pieces = collector.take();
    const buffers = new Set(pieces.map(({ buffer }) => buffer));
    const occupied = [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(occupied).toBeLessThan(1_200_000);
    expect(pieces.length).toBeLessThan(120);
  },
);

it("does not copy pieces that fill their buffers", () => {
  const collector = new ByteCollector();
  const large = new Uint8Array(20_000);
  collector.push(view(3, 1));
  collector.push(large);
  expect(collector.take()[1]).toBe(large);
});
