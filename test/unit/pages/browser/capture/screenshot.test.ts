import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Size } from "../../../../../src/core/ports/page-browser.ts";
import {
  hasSize,
  type ScreenshotSession,
  type Shot,
  takeExactScreenshot,
} from "../../../../../src/pages/browser/capture/screenshot.ts";
import { planCapture } from "../../../../../src/pages/images/capture-plan.ts";
import { readImageSize } from "../../../../../src/pages/images/image-size.ts";

/** What a test's browser does otherwise than Chromium. */
interface Manners {
  /** How often it gives the page as it was, to who asks without a clip. */
  readonly late?: number;
  /** Pixels that it draws beyond the requested size. */
  readonly excess?: number;
  /** How it makes pixels of what it draws; a rounding, if nothing is said. */
  readonly whole?: (length: number) => number;
  /** It has no second session for a page. */
  readonly isAlone?: boolean;
}

type Wish = Parameters<ScreenshotSession["send"]>[1];

/** A browser that makes images which have nothing but a size, of the size that Chromium would give them. */
function browser(
  { screen }: Shot["request"],
  { late = 0, excess = 0, whole = Math.round, isAlone = false }: Manners,
) {
  const { deviceScaleFactor } = screen;
  const seen = { wishes: 0, open: 0 };
  let surface: Size = screen;
  let restored: Promise<void> = Promise.resolve();
  const clipped = ({ clip }: Wish): Size => {
    if (clip === undefined) throw new Error("A page's own session asks for clips.");
    const scale = clip.scale * deviceScaleFactor;
    surface = {
      width: whole(clip.width * scale) + excess,
      height: whole(clip.height * scale) + excess,
    };
    restored = Promise.resolve().then(() => {
      surface = screen;
    });
    return {
      width: Math.round(Math.trunc(clip.width) * scale),
      height: Math.round(Math.trunc(clip.height) * scale),
    };
  };
  const session: ScreenshotSession = {
    send: async (_, wish) => {
      seen.wishes++;
      return { data: header(clipped(wish)) };
    },
  };
  const onlooker = {
    send: async () => {
      seen.wishes++;
      await Promise.resolve();
      const drawn = --late >= 0 ? screen : surface;
      await restored;
      return { data: header(drawn) };
    },
    detach: async () => {
      seen.open--;
    },
  };
  const createCDPSession = async () => {
    if (isAlone) throw new Error("Not allowed");
    seen.open++;
    return onlooker;
  };
  return { tab: { session, page: { createCDPSession } }, seen };
}

/** The beginning of a PNG, in base64. */
function header({ width, height }: Size): string {
  const bytes = Buffer.alloc(24);
  bytes.writeUInt32BE(0x89504e47, 0);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes.toString("base64");
}

const screens = fc.record({
  width: fc.integer({ min: 300, max: 1600 }),
  height: fc.integer({ min: 300, max: 1600 }),
  deviceScaleFactor: fc.constantFrom(1, 1.33, 2, 2.625),
  mobile: fc.constant(false),
  touch: fc.constant(false),
});
const shots = fc
  .record({
    screen: screens,
    zoom: fc.constantFrom(1, 0.4204081594944),
    size: fc.record({
      width: fc.double({ min: 200, max: 1600, noNaN: true }),
      height: fc.integer({ min: 200, max: 9_000 }),
    }),
    frame: fc.record({
      width: fc.integer({ min: 1601, max: 6_000 }),
      height: fc.integer({ min: 1601, max: 6_000 }),
    }),
  })
  .map(
    ({ screen, zoom, size, frame }): Shot => ({
      request: { format: "png", quality: 80, screen },
      region: { x: 3.5, y: 7, ...size },
      zoom,
      plan: planCapture(size, { ...frame, fit: "cover" }, screen.deviceScaleFactor),
    }),
  );
const { signal } = new AbortController();

describe("an exact screenshot", () => {
  it("has the planned size, although a browser rounds each side", async () => {
    await fc.assert(
      fc.asyncProperty(
        shots,
        fc.integer({ min: 0, max: 2 }),
        fc.integer({ min: 0, max: 1 }),
        async (shot, late, excess) => {
          const { tab, seen } = browser(shot.request, { late, excess });
          expect(readImageSize(await takeExactScreenshot(tab, shot, signal))).toEqual(shot.plan.output);
          expect(seen.open).toBe(0);
        },
      ),
    );
  });

  it("has the planned size, although a browser draws every pixel that a clip touches", async () => {
    await fc.assert(
      fc.asyncProperty(shots, async (shot) => {
        const { tab, seen } = browser(shot.request, { whole: Math.ceil });
        expect(readImageSize(await takeExactScreenshot(tab, shot, signal))).toEqual(shot.plan.output);
        // At once: a clip that is not exact, and what it is drawn on with the picture that is not used.
        expect(seen.wishes).toBeLessThanOrEqual(3);
      }),
    );
  });

  it("is a little smaller, never larger, if a browser cannot draw the exact size", async () => {
    await fc.assert(
      fc.asyncProperty(shots, fc.boolean(), async (shot, isAlone) => {
        const { tab, seen } = browser(shot.request, isAlone ? { isAlone } : { late: 1_000 });
        const size = readImageSize(await takeExactScreenshot(tab, shot, signal));
        const { output, scale } = shot.plan;
        const pixel = scale * shot.zoom + 1;
        for (const side of ["width", "height"] as const) {
          expect(size?.[side]).toBeLessThanOrEqual(output[side]);
          expect(size?.[side]).toBeGreaterThan(output[side] - pixel);
        }
        expect(seen.wishes).toBeLessThan(15);
        expect(seen.open).toBe(0);
      }),
    );
  });

  it("is not taken of a document that the page has left", async () => {
    const [shot] = fc.sample(shots, { seed: 1, numRuns: 1 });
    if (shot === undefined) throw new Error("There is no picture to take.");
    const { tab, seen } = browser(shot.request, {});
    await expect(takeExactScreenshot(tab, shot, AbortSignal.abort(new Error("left")))).rejects.toThrow(
      "left",
    );
    expect(seen).toEqual({ wishes: 0, open: 0 });
  });
});

describe("the size check of a screenshot", () => {
  it("reads the size from the image's header", () => {
    const image = new Uint8Array(Buffer.from(header({ width: 3, height: 4 }), "base64"));
    expect(hasSize(image, { width: 3, height: 4 })).toBe(true);
    expect(hasSize(image, { width: 3, height: 5 })).toBe(false);
    expect(hasSize(new Uint8Array(30), { width: 3, height: 5 })).toBe(true);
  });
});
