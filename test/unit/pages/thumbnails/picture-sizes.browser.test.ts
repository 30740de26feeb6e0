import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Size } from "../../../../src/core/ports/page-browser.ts";
import { readImageSize } from "../../../../src/pages/images/image-size.ts";
import { thumbnailSchema } from "../../../../src/pages/thumbnails/endpoints.ts";
import { describeWithBrowser } from "../../../support/browser.ts";
import { usePageService } from "../../../support/page-service.ts";
import {
  colourAt,
  decode,
  expectColour,
  GREEN,
  html,
  isSimilarColour,
  type Picture,
} from "../../../support/pages.ts";

/** The page: cells that differ from their neighbours, so that what is missing, moved, stretched or blank shows. */
const CELL = 40;
const PAGE = { width: 1200, height: 3000 };
const told = thumbnailSchema();
/** Decoding of more than this would take longer than all the rest. */
const MAX_DECODED = 9_000_000;

function cellColour(x: number, y: number): number[] {
  const [column, row] = [Math.floor(x / CELL), Math.floor(y / CELL)];
  const groups = Math.floor(column / 6) + 2 * Math.floor(row / 6);
  return [(column % 6) * 48, (row % 6) * 48, (groups % 6) * 48];
}

function cells(): string {
  const place = (x: number, y: number) =>
    `<i style="position:absolute;left:${x}px;top:${y}px;width:${CELL}px;height:${CELL}px;background:rgb(${cellColour(x, y)})"></i>`;
  const rows = Array.from({ length: PAGE.height / CELL }, (_, row) =>
    Array.from({ length: PAGE.width / CELL }, (_, column) => place(column * CELL, row * CELL)).join(""),
  );
  return `<div style="position:relative;width:${PAGE.width}px;height:${PAGE.height}px">${rows.join("")}</div>`;
}

/** Pixels of an image's edges and corners, and some within. */
function* places({ width, height }: Size): Generator<readonly [number, number]> {
  const STEPS = 97;
  for (let step = 0; step <= STEPS; step++) {
    const x = Math.round(((width - 1) * step) / STEPS);
    const y = Math.round(((height - 1) * step) / STEPS);
    yield* [
      [x, 0],
      [x, height - 1],
      [0, y],
      [width - 1, y],
      [x, y],
    ] as const;
  }
}

/** Expects that an image shows this much of the cells, from their top and evenly cut at the sides. */
function expectCells(image: Picture, subject: Size): void {
  const scale = Math.max(image.width / subject.width, image.height / subject.height);
  const left = (subject.width - image.width / scale) / 2;
  // Pixels of the border between two cells are of both.
  const isWithin = (at: number) => Math.min(at % CELL, CELL - (at % CELL)) > 2 / scale;
  let looked = 0;
  for (const [x, y] of places(image)) {
    const [pageX, pageY] = [left + (x + 0.5) / scale, (y + 0.5) / scale];
    // An edge of the page is no border of two cells.
    if (![pageX, pageY].every((at) => isWithin(at) || at < 1 / scale)) continue;
    looked++;
    const seen = colourAt(image, x, y);
    if (!isSimilarColour(seen, cellColour(pageX, pageY)))
      expect([x, y, seen]).toEqual([x, y, cellColour(pageX, pageY)]);
  }
  expect(looked).toBeGreaterThan(100);
}

describeWithBrowser("the size of large pictures", () => {
  const { ask } = usePageService(
    (_, response, { pathname }) => {
      if (pathname === "/cells") return html(response, cells());
      if (pathname === "/square")
        return html(response, "<div id=x style='width:100.9px;height:100.9px;background:green'></div>");
      return html(
        response,
        `<style>body{height:4000px;background:red}#x{position:absolute;left:203.5px;top:2501.25px;width:601.5px;height:707.25px;background:green}</style>
         <div id=x></div>`,
        pathname === "/phone" ? "" : "<meta name=viewport content='width=device-width'>",
      );
    },
    { BROWSER_MAX_TABS: "2" },
  );

  /** A picture whose size is what all say that it is; decoded where that does not take too long. */
  const picture = async (path: string, query: Readonly<Record<string, string>>, size: Size) => {
    const response = await ask("thumbs", path, { output: "json", maxAge: "0", ...query });
    const { base64, width, height } = told.parse(JSON.parse(await response.text()));
    const bytes = new Uint8Array(Buffer.from(base64, "base64"));
    expect({ told: { width, height }, is: readImageSize(bytes) }).toEqual({ told: size, is: size });
    return size.width * size.height > MAX_DECODED ? null : decode(bytes.buffer);
  };
  const custom = async (width: number, height: number, query: Readonly<Record<string, string>>) => {
    const image = await picture("/cells", { size: `${width}x${height}`, ...query }, { width, height });
    if (image !== null) expectCells(image, { width: 1200, height: query["full"] ? PAGE.height : 1200 });
  };

  it.each([
    [3001, 3000, "jpg"],
    [3001, 3000, "webp"],
    [1237, 4099, "png"],
    [16_383, 2441, "jpg"],
    [1601, 1600, "png"],
    [6324, 6325, "jpg"],
  ])(
    "is exact to the pixel: %d by %d as %s",
    (width, height, format) => custom(width, height, { format }),
    60_000,
  );

  it("is exact for arbitrary sizes", async () => {
    const side = fc.integer({ min: 1201, max: 2400 });
    const large = fc.tuple(side, side).filter(([width, height]) => width * height > 2_500_000);
    const sizes = fc.sample(large, { seed: 20_260_101, numRuns: 4 });
    for (const [index, [width, height]] of sizes.entries()) {
      const format = ["jpg", "png", "webp"][index % 3] ?? "jpg";
      await custom(width, height, { format, quality: "80", ...(index % 2 === 1 && { full: "true" }) });
    }
  }, 120_000);

  it("is exact for the whole page, its parts and elements, within and beyond the viewport", async () => {
    const whole = { full: "true", width: "1801", height: "2333", format: "png" };
    const all = await picture("/cells", whole, { width: 1801, height: 2333 });
    if (all !== null) expectCells(all, PAGE);
    for (const format of ["jpg", "png", "webp"]) {
      const size = { width: 1511, height: 1777 };
      const element = await picture("/element", { selector: "#x", width: "1511", format }, size);
      if (element === null) throw new Error("The picture is too large.");
      for (const [x, y] of places(size)) {
        // Its outermost pixels are drawn together with what is around it.
        if (x < 4 || y < 4 || x > size.width - 5 || y > size.height - 5) continue;
        expectColour(element, x, y, GREEN);
      }
    }
    await picture("/cells", { clip: "7,1003,611,499", width: "2203" }, { width: 2203, height: 1799 });
  }, 90_000);

  it("is exact for a square element that is drawn as large as the viewport", async () => {
    const query = { selector: "#x", viewport: "1600x1600", width: "1600", format: "png" };
    await picture("/square", query, { width: 1600, height: 1600 });
  }, 60_000);

  describe.each([
    ["a phone", { mobile: "true" }],
    ["a fine screen", { device: "laptopwithhidpiscreen" }],
  ])("on %s", (_, screen) => {
    it("is exact, also with a scale", async () => {
      for (const path of ["/element", "/phone"]) {
        await picture(path, { ...screen, size: "1801x1603", format: "png" }, { width: 1801, height: 1603 });
        await picture(path, { ...screen, size: "1001x1303", scale: "1.67" }, { width: 1672, height: 2176 });
      }
    }, 90_000);
  });
});
