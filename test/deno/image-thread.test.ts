import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { runDenoScript } from "../support/deno-script.ts";

const folder = mkdtempSync(join(tmpdir(), "polygate-noise-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A PNG of noise, which takes encoders longest. */
function noise(width: number): Buffer {
  const row = width * 4 + 1;
  const pixels = Buffer.alloc(row * width);
  let state = 1;
  for (let at = 0; at < pixels.length; at += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    pixels[at] = at % row === 0 ? 0 : (at % row) % 4 === 0 ? 255 : state >>> 24;
  }
  const chunk = (name: string, content: Buffer) => {
    const named = Buffer.concat([Buffer.from(name), content]);
    const edges = Buffer.alloc(8);
    edges.writeUInt32BE(content.length, 0);
    edges.writeUInt32BE(crc32(named), 4);
    return Buffer.concat([edges.subarray(0, 4), named, edges.subarray(4)]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(width, 4);
  head.set([8, 6, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(pixels, { level: 1 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

describe("a picture on Deno", () => {
  const width = Number(process.env["NOISE_WIDTH"] ?? 600);

  it.each(["avif", "jpeg"])("is encoded as %s while other requests are served", async (format) => {
    const path = join(folder, "noise.png");
    writeFileSync(path, noise(width));
    const stdout = await runDenoScript("convert-noise.mjs", [path, String(width), format]);
    if (process.env["NOISE_WIDTH"] !== undefined) console.log(format, stdout);
    const result = JSON.parse(stdout);
    // On the main thread the timer would not fire once while the picture is encoded.
    expect(result.turns).toBeGreaterThan(5);
    expect(result.bytes).toBeGreaterThan(10_000);
    // A broken picture fails alone.
    expect(result.failure).not.toBe("");
    expect(result.again).toBeGreaterThan(100);
  });

  it("that takes too long fails alone, and its thread is replaced", async () => {
    expect(JSON.parse(await runDenoScript("convert-stuck.mjs", ["3000"]))).toEqual([
      { bytes: [1, 2] },
      { status: 504, code: "page_timeout", message: expect.stringContaining("3 seconds") },
      { bytes: [4, 5] },
      { bytes: [6, 7] },
    ]);
  });
});
