import { fromBase64 } from "../../../core/encoding/bytes.ts";
import { GatewayError } from "../../../core/errors/gateway-error.ts";
import type { CapturePlan, CaptureRequest, ImageFormat, Size } from "../../../core/ports/page-browser.ts";
import { readImageSize } from "../../images/image-size.ts";
import { MAX_OUTCOME_BYTES } from "../rpc-result.ts";

/**
 * A rectangle of the page from its top left corner, in pixels of the emulated screen before its density. They equal CSS
 * pixels, except on a phone that shows a page made for larger screens: the phone lays the page out wide and draws it
 * small.
 */
export interface Region {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A picture to take of a page. */
export interface Shot {
  readonly request: Pick<CaptureRequest, "format" | "quality" | "screen">;
  readonly region: Region;
  readonly plan: CapturePlan;
  /** Screen pixels per CSS pixel. */
  readonly zoom: number;
  /** How far the page is scrolled, in pixels of the emulated screen; default 0. */
  readonly viewportTop?: number;
}

/** The parameters of `Page.captureScreenshot` (DevTools protocol). */
interface ScreenshotOptions {
  readonly format: Exclude<ImageFormat, "avif">;
  readonly quality?: number;
  readonly optimizeForSpeed?: boolean;
  readonly captureBeyondViewport?: boolean;
  /** CSS pixels; `scale` is the drawn size of one CSS pixel. */
  readonly clip?: Region & { readonly scale: number };
}

/** The part of a page's DevTools session that screenshots need. */
export interface ScreenshotSession {
  send(method: "Page.captureScreenshot", parameters: ScreenshotOptions): Promise<{ readonly data: string }>;
}

/** The part of a tab that screenshots need. */
export interface ScreenshotTab {
  readonly session: ScreenshotSession;
  readonly page: { createCDPSession(): Promise<ScreenshotSession & { detach(): Promise<void> }> };
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Maximum attempts to capture the surface of the page. */
const MAX_SURFACE_ATTEMPTS = 5;
/** Maximum pixels by which the drawn surface may exceed the planned size, so that a smaller clip can correct it. */
const MAX_EXCESS = 4;

/**
 * Takes a picture. It shows whole CSS pixels, so it may be slightly larger than planned.
 *
 * @param isFinal true if the picture is the answer as it is; false for a PNG to process further
 */
export function takeScreenshot(tab: ScreenshotTab, shot: Shot, isFinal: boolean): Promise<Bytes> {
  return screenshotClip(tab, shot, isFinal, roundUpPixels);
}

/**
 * Takes a picture of exactly the planned size, which is the answer as it is. If the browser cannot produce that size,
 * the picture is the nearest one with whole CSS pixels, never larger.
 *
 * The browser takes the whole CSS pixels of a clip, multiplies them by the scale and rounds. The result seldom has both
 * sides right. But the surface on which it draws the page meanwhile has exactly the clip's size. So a second session,
 * which has no emulation, captures that surface.
 *
 * @throws the signal's reason if the page navigates away
 */
export async function takeExactScreenshot(
  tab: ScreenshotTab,
  shot: Shot,
  signal: AbortSignal,
): Promise<Bytes> {
  const { output } = shot.plan;
  if (isSameSize(clipPictureSize(shot), output)) {
    const bytes = await takeScreenshot(tab, shot, true);
    if (hasSize(bytes, output)) return bytes;
  }
  const exact = await screenshotSurface(tab, shot, signal);
  if (exact !== null) return exact;
  const { clip, scale } = nearestClip(shot);
  return screenshotClip(
    tab,
    { ...shot, plan: { ...shot.plan, clip: { ...shot.plan.clip, ...clip }, scale } },
    true,
    Math.round,
  );
}

async function screenshotClip(
  { session }: ScreenshotTab,
  shot: Shot,
  isFinal: boolean,
  round: (length: number) => number,
): Promise<Bytes> {
  const { width, height } = cssSize(shot, shot.plan.clip);
  const { data } = await session.send("Page.captureScreenshot", {
    ...(isFinal ? imageOptions(shot.request) : { format: "png", optimizeForSpeed: true }),
    ...clipOptions(shot, { width: round(width), height: round(height) }),
  });
  return decodeImage(data);
}

/** Captures the surface of the page for a clip of the planned size; null if the surface never has that size. */
async function screenshotSurface(
  { page, session }: ScreenshotTab,
  shot: Shot,
  signal: AbortSignal,
): Promise<Bytes | null> {
  const { output, scale } = shot.plan;
  // In this case a ready surface could not be distinguished from one that is not ready.
  if (isSameSize(output, shot.request.screen)) return null;
  const secondSession = await page.createCDPSession().catch(() => null);
  if (secondSession === null) return null;
  try {
    let drawn: Size = output;
    for (let attempt = 0; attempt < MAX_SURFACE_ATTEMPTS; attempt++) {
      signal.throwIfAborted();
      const clip = cssSize(shot, {
        width: roundingSafeLength(drawn.width) / scale,
        height: roundingSafeLength(drawn.height) / scale,
      });
      // The second session must ask first: it gets its answer after the next drawing, and the clip stays in effect
      // until then. The clip's own picture is not used.
      const [{ data }] = await Promise.all([
        secondSession.send("Page.captureScreenshot", imageOptions(shot.request)),
        session.send("Page.captureScreenshot", {
          format: "jpeg",
          quality: 1,
          optimizeForSpeed: true,
          ...clipOptions(shot, clip),
        }),
      ]);
      const bytes = decodeImage(data);
      const size = readImageSize(bytes);
      if (size === null) return null;
      if (isSameSize(size, output)) return bytes;
      const excess = { width: size.width - output.width, height: size.height - output.height };
      // Otherwise this is the page without the clip, before or after it.
      if (Math.max(Math.abs(excess.width), Math.abs(excess.height)) > MAX_EXCESS) continue;
      drawn = { width: drawn.width - excess.width, height: drawn.height - excess.height };
    }
    return null;
  } finally {
    secondSession.detach().catch(() => undefined);
  }
}

/**
 * Finds the clip of whole CSS pixels, and the scale, nearest to the planned size without exceeding it. It shows a
 * fraction of a CSS pixel more or less on each side, instead of losing as many image pixels as a CSS pixel has.
 */
function nearestClip(shot: Shot): { readonly clip: Size; readonly scale: number } {
  const { output } = shot.plan;
  const { width, height } = cssSize(shot, shot.plan.clip);
  const nearestLengths = (length: number) => [Math.max(1, Math.floor(length + 0.001)), roundUpPixels(length)];
  const clips = nearestLengths(width).flatMap((w) =>
    nearestLengths(height).map((h) => ({ width: w, height: h })),
  );
  const { clip, scale } = clips
    .map((clip) => {
      const scale = Math.min(output.width / clip.width, output.height / clip.height);
      const missing = output.width - clip.width * scale + (output.height - clip.height * scale);
      return { clip, scale, missing };
    })
    .reduce((best, candidate) => (candidate.missing < best.missing ? candidate : best));
  return {
    clip: { width: clip.width * shot.zoom, height: clip.height * shot.zoom },
    scale: scale / shot.zoom,
  };
}

/** The size of the browser's picture for a clip of whole CSS pixels. */
function clipPictureSize(shot: Shot): Size {
  const { width, height } = cssSize(shot, shot.plan.clip);
  const scale = shot.plan.scale * shot.zoom;
  return {
    width: Math.round(roundUpPixels(width) * scale),
    height: Math.round(roundUpPixels(height) * scale),
  };
}

function cssSize({ zoom }: Shot, { width, height }: Size): Size {
  return { width: width / zoom, height: height / zoom };
}

function imageOptions({ format, quality }: Shot["request"]): ScreenshotOptions {
  // The browser makes no AVIF: its PNG is encoded afterwards.
  if (format === "png" || format === "avif") return { format: "png" };
  return { format, quality };
}

/** The position of a picture on the page, and its scale; `size` in CSS pixels. */
function clipOptions(
  { request, region, plan, zoom, viewportTop = 0 }: Shot,
  size: Size,
): Pick<ScreenshotOptions, "captureBeyondViewport" | "clip"> {
  const { clip, scale } = plan;
  const bottom = region.y + clip.y + clip.height;
  const right = region.x + clip.x + clip.width;
  const { screen } = request;
  return {
    captureBeyondViewport:
      region.x > 0 ||
      region.y !== viewportTop ||
      bottom - viewportTop > screen.height ||
      right > screen.width,
    clip: {
      x: (region.x + clip.x) / zoom,
      y: (region.y + clip.y) / zoom,
      ...size,
      scale: (scale * zoom) / screen.deviceScaleFactor,
    },
  };
}

/** Decodes an image. Throws GatewayError 422 if it is too large. */
function decodeImage(data: string): Bytes {
  const bytes = fromBase64(data);
  if (bytes.byteLength <= MAX_OUTCOME_BYTES) return bytes;
  throw new GatewayError(422, "The image is too large; ask for a smaller size, or for jpg or webp.", {
    code: "page_too_large",
    param: "size",
  });
}

/** Rounds up, ignoring rounding errors: slightly more of the page is better than a missing last row. */
function roundUpPixels(length: number): number {
  return Math.ceil(length - 0.001);
}

/** A length that becomes `pixels` by rounding as well as by rounding up: browsers do either. */
function roundingSafeLength(pixels: number): number {
  return pixels - 0.01;
}

/** Whether an image has a size. An image of unknown size counts as right. */
export function hasSize(image: Bytes, expected: Size): boolean {
  const size = readImageSize(image);
  return size === null || isSameSize(size, expected);
}

function isSameSize(a: Size, b: Size): boolean {
  return a.width === b.width && a.height === b.height;
}
