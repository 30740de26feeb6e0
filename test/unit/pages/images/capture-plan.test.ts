import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  MAX_PIXELS,
  MAX_PROCESSED_PIXELS,
  MAX_SIDE,
  planCapture,
} from "../../../../src/pages/images/capture-plan.ts";

const cover = (width: number | null, height: number | null) => ({ width, height, fit: "cover" }) as const;
const viewport = { width: 1200, height: 1200 };
const side = fc.integer({ min: 1, max: MAX_SIDE });
const length = fc.double({ min: 1, max: 20_000, noNaN: true });
const density = fc.constantFrom(1, 1.25, 2, 3.5);

describe("the plan of a capture", () => {
  it("captures twice as many pixels as a small image has", () => {
    const plan = planCapture(viewport, cover(320, 240), 1);
    expect(plan.clip).toEqual({ x: 0, y: 0, width: 1200, height: 900 });
    expect(plan.scale).toBeCloseTo(640 / 1200);
    expect(plan).toMatchObject({ output: { width: 320, height: 240 }, exact: false });
  });

  it("captures no finer than the screen", () => {
    expect(planCapture(viewport, cover(900, 675), 1).scale).toBe(1);
    expect(planCapture(viewport, cover(900, 675), 2).scale).toBe(1.5);
  });

  it("draws an image at its own size when it is as large as the subject, or larger", () => {
    expect(planCapture(viewport, cover(1200, 630), 1)).toMatchObject({ scale: 1, exact: true });
    expect(planCapture(viewport, cover(2400, 2400), 1)).toMatchObject({ scale: 2, exact: true });
  });

  it("has the requested size, and shows the subject's top without distortion", () => {
    fc.assert(
      fc.property(length, length, side, side, density, (width, height, wide, high, screen) => {
        const { clip, output } = planCapture({ width, height }, cover(wide, high), screen);
        expect(output).toEqual({ width: wide, height: high });
        expect(clip.y).toBe(0);
        expect(clip.x).toBeGreaterThanOrEqual(0);
        expect(clip.x + clip.width).toBeLessThanOrEqual(width + 1e-6);
        expect(clip.height).toBeLessThanOrEqual(height + 1e-6);
        expect(clip.width / clip.height / (wide / high)).toBeCloseTo(1, 3);
        // One side is seen whole.
        expect(Math.min(width - clip.width, height - clip.height)).toBeLessThan(1e-6);
      }),
    );
  });

  it("keeps the proportions when one side is left open, within the bounds of an image", () => {
    fc.assert(
      fc.property(length, length, side, fc.boolean(), density, (width, height, fixed, isWidth, screen) => {
        const frame = isWidth ? cover(fixed, null) : cover(null, fixed);
        const { output } = planCapture({ width, height }, frame, screen);
        expect(output.width).toBeGreaterThanOrEqual(1);
        expect(output.height).toBeGreaterThanOrEqual(1);
        expect(Math.max(output.width, output.height)).toBeLessThanOrEqual(MAX_SIDE);
        expect(output.width * output.height).toBeLessThanOrEqual(MAX_PIXELS + MAX_SIDE);
        const whole = isWidth ? (fixed * height) / width : (fixed * width) / height;
        if (fixed * whole < MAX_PIXELS && whole < MAX_SIDE && whole >= 1) {
          expect(Math.abs((isWidth ? output.height : output.width) - whole)).toBeLessThanOrEqual(0.5);
        }
      }),
    );
  });

  it("fits all of a subject into a size", () => {
    fc.assert(
      fc.property(length, length, side, side, density, (width, height, wide, high, screen) => {
        const { output } = planCapture(
          { width, height },
          { width: wide, height: high, fit: "contain" },
          screen,
        );
        expect(output.width).toBeLessThanOrEqual(wide);
        expect(output.height).toBeLessThanOrEqual(high);
        const ratio = Math.min(wide / width, high / height);
        if (output.width * output.height < MAX_PIXELS / 2) {
          expect(Math.abs(output.width - Math.max(1, width * ratio))).toBeLessThanOrEqual(0.5 + 1e-6);
          expect(Math.abs(output.height - Math.max(1, height * ratio))).toBeLessThanOrEqual(0.5 + 1e-6);
        }
      }),
    );
  });

  it("has the screen's density if no size is requested, and lowers it before it crops", () => {
    const own = cover(null, null);
    expect(planCapture({ width: 412, height: 732 }, own, 2)).toMatchObject({
      output: { width: 824, height: 1464 },
      scale: 2,
      exact: true,
    });
    expect(planCapture({ width: 400, height: 10_000 }, own, 3).output).toEqual({
      width: 655,
      height: 16_375,
    });
    expect(planCapture({ width: 400, height: 18_000 }, own, 3)).toMatchObject({
      output: { width: 400, height: MAX_SIDE },
      clip: { height: MAX_SIDE },
    });
  });

  it("never exceeds the pixels that fit into an isolate's memory, except for images that the browser finishes", () => {
    fc.assert(
      fc.property(length, length, side, side, density, (width, height, wide, high, screen) => {
        const plan = planCapture({ width, height }, cover(wide, high), screen);
        const captured = plan.clip.width * plan.clip.height * plan.scale ** 2;
        if (!plan.exact) expect(captured + wide * high).toBeLessThanOrEqual(MAX_PROCESSED_PIXELS * 1.001);
      }),
    );
  });
});
