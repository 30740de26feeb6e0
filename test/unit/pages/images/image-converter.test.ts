import encodePng, { init } from "@jsquash/png/encode.js";
import { beforeAll, describe, expect, it } from "vitest";
import type { ImageFormat } from "../../../../src/core/ports/page-browser.ts";
import { ImageConverter } from "../../../../src/pages/images/image-converter.ts";
import { readImageSize } from "../../../../src/pages/images/image-size.ts";
import { compileCodecs } from "../../../support/image-codecs.ts";
import { colourAt, colourSampling, decode } from "../../../support/pages.ts";

describe("the image converter", () => {
  const modules = compileCodecs();
  const maker = new ImageConverter(modules);
  let chart: Uint8Array<ArrayBuffer>;

  beforeAll(async () => {
    // The maker itself turns one pixel into a sheet, which is then scaled and encoded in every way.
    const pixel =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGPQMFIBAAFyAJHnTdCLAAAAAElFTkSuQmCC";
    chart = await maker.convert(
      new Uint8Array(Buffer.from(pixel, "base64")),
      { width: 60, height: 40 },
      "png",
      100,
    );
  });

  it.each<ImageFormat>(["jpeg", "png", "webp", "avif"])(
    "makes %s of the wanted size and colour",
    async (format) => {
      const expected = colourAt(await decode(exact(chart)), 1, 1);
      for (const size of [
        { width: 60, height: 40 },
        { width: 31, height: 17 },
        { width: 120, height: 1 },
      ]) {
        const picture = await decode(exact(await maker.convert(chart, size, format, 100)));
        expect(picture).toMatchObject({ format, ...size });
        const colour = colourAt(picture, 15, 0);
        for (const [channel, value] of expected.entries())
          expect(Math.abs((colour[channel] ?? 0) - value)).toBeLessThan(8);
      }
    },
  );

  it("cuts a capture that has a margin, and scales any other", async () => {
    const cut = await maker.convert(chart, { width: 58, height: 40 }, "png", 100, 2);
    expect(await decode(exact(cut))).toMatchObject({ width: 58, height: 40 });
    expect(await maker.convert(chart, { width: 60, height: 40 }, "png", 100, 2)).toBe(chart);
    const size = { width: 57, height: 43 };
    expect(await decode(exact(await maker.convert(chart, size, "png", 100, 2)))).toMatchObject(size);
  });

  it("makes images that say how large they are", async () => {
    for (const format of ["jpeg", "png", "webp"] as const) {
      for (const size of [
        { width: 60, height: 40 },
        { width: 300, height: 7 },
      ]) {
        expect(readImageSize(await maker.convert(chart, size, format, 80))).toEqual(size);
      }
    }
    for (const end of [0, 3, 12, 20]) expect(readImageSize(chart.slice(0, end))).toBeNull();
    expect(readImageSize(new TextEncoder().encode("<html>no image at all</html>"))).toBeNull();
  });

  it("samples the colours of a JPEG by its quality", async () => {
    const sampling = async (quality: number) =>
      colourSampling(exact(await maker.convert(chart, { width: 32, height: 32 }, "jpeg", quality)));
    expect([await sampling(89), await sampling(90)]).toEqual(["4:2:0", "4:4:4"]);
  });

  it("makes a JPEG of the best quality that looks the same as the capture", async () => {
    const [width, height] = [64, 48];
    const stripes = new Uint8ClampedArray(width * height * 4).map((_, at) => {
      const [x, y] = [Math.floor(at / 4) % width, Math.floor(at / 4 / width)];
      // A gradient with lines of other colours, as letters have.
      return [x * 4, y * 5, x % 5 === 0 ? 200 : 40, 255][at % 4] ?? 0;
    });
    await init(modules.png);
    const png = new Uint8Array(await encodePng({ data: stripes, width, height, colorSpace: "srgb" }));
    const { data } = await decode(exact(await maker.convert(png, { width, height }, "jpeg", 100)));
    const squares = data.map((value, at) => (value - (stripes[at] ?? 0)) ** 2);
    const error = squares.reduce((sum, square) => sum + square, 0) / (width * height * 3);
    expect(10 * Math.log10(255 ** 2 / error)).toBeGreaterThan(42);
  });

  it("rejects data that is not a PNG", async () => {
    await expect(
      maker.convert(new Uint8Array([1, 2, 3]), { width: 1, height: 1 }, "png", 1),
    ).rejects.toThrow();
  });
});

function exact(bytes: Uint8Array<ArrayBuffer>): ArrayBuffer {
  return bytes.slice().buffer;
}
