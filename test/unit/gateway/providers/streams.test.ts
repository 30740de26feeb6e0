import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DRIVERS, getDriver } from "../../../../src/gateway/providers/drivers.ts";
import { cutAt, decode } from "./support.ts";

/** A folder a driver, each with streams as they were captured; see the README there. */
const root = join(import.meta.dirname, "../../../fixtures/streams");

const folders = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** What a captured answer was called on the wire. */
const MEDIA_TYPES: readonly (readonly [ending: string, mediaType: string])[] = [
  [".sse", "text/event-stream"],
  [".whole.json", "application/json"],
];

const mediaTypeOf = (file: string) => MEDIA_TYPES.find(([ending]) => file.endsWith(ending))?.[1];

/** Bytes in pieces of one size. */
function inPieces(bytes: Uint8Array, size: number): Uint8Array[] {
  const count = Math.ceil(bytes.length / size) - 1;
  return cutAt(
    bytes,
    Array.from({ length: count }, (_, index) => (index + 1) * size),
  );
}

test("there are captured streams for every driver", () => {
  expect(folders.toSorted()).toEqual(DRIVERS.map(({ id }) => id).toSorted());
});

describe.each(folders)("captured streams of the %s driver", (folder) => {
  const files = readdirSync(join(root, folder)).filter((file) => mediaTypeOf(file) !== undefined);
  const cuts = [1, 7, 64, Number.POSITIVE_INFINITY];

  test("exist", () => {
    expect(files.length).toBeGreaterThan(0);
  });

  test.each(files.flatMap((file) => cuts.map((size): [string, number] => [file, size])))(
    "%s means the same in pieces of %d bytes",
    async (file, size) => {
      const bytes = readFileSync(join(root, folder, file));
      const decoder = getDriver(folder).createCaptureDecoder(mediaTypeOf(file) ?? "");
      const outcome = decode(decoder, inPieces(bytes, Math.min(size, bytes.length)));
      const events = join(root, folder, `${file.replace(/\.[^.]+$/, "")}.events.json`);
      await expect(`${JSON.stringify(outcome, null, 2)}\n`).toMatchFileSnapshot(events);
    },
  );

  test.each(files)("are decoded equally for any split: %s", (file) => {
    const bytes = readFileSync(join(root, folder, file));
    const read = (offsets: readonly number[]) =>
      decode(getDriver(folder).createCaptureDecoder(mediaTypeOf(file) ?? ""), cutAt(bytes, offsets));
    const whole = read([]);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (offsets) => {
        expect(read(offsets)).toEqual(whole);
      }),
      { numRuns: 20 },
    );
  });
});
