import { fromBase64 } from "../../encoding/bytes.ts";
import { GatewayError } from "../../errors/gateway-error.ts";
import type { CaptureRequest, FramePlan, ImageFormat, Size } from "../../platform/page-browser.ts";
import { imageSize } from "../thumbnails/image-size.ts";
import { MAX_BYTES } from "./protocol.ts";

/**
 * A rectangle of the page, from its top left corner, in pixels of the emulated screen before its density. They are CSS pixels, except on a phone that
 * shows a page for larger screens, which it lays out wide and draws small.
 */
export interface Region {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A picture that is to be taken of a page. */
export interface Shot {
  readonly request: Pick<CaptureRequest, "format" | "quality" | "screen">;
  readonly region: Region;
  readonly plan: FramePlan;
  /** Screen pixels that the page is drawn with for each CSS pixel. */
  readonly zoom: number;
}

/** What a browser is to make an image of (DevTools protocol, `Page.captureScreenshot`). */
interface ImageWish {
  readonly format: ImageFormat;
  readonly quality?: number;
  readonly optimizeForSpeed?: boolean;
  readonly captureBeyondViewport?: boolean;
  /** CSS pixels, and how large one of them is drawn. */
  readonly clip?: Region & { readonly scale: number };
}

/** The part of a page's DevTools session that is needed. */
export interface Camera {
  send(method: "Page.captureScreenshot", parameters: ImageWish): Promise<{ readonly data: string }>;
}

/** The part of a tab that is needed. */
export interface Studio {
  readonly session: Camera;
  readonly page: { createCDPSession(): Promise<Camera & { detach(): Promise<void> }> };
}

type Bytes = Uint8Array<ArrayBuffer>;

/** How often a picture is looked for in what the page is drawn on. */
const SURFACE_TRIES = 5;
/** Pixels by which a browser may draw more than it was told to, for which it can be told less. */
const MAX_EXCESS = 4;

/**
 * Takes a picture. It shows whole CSS pixels, and so may be a little larger than planned.
 *
 * @param finished it is the answer as it is, not a PNG to be worked on
 */
export function shoot(tab: Studio, shot: Shot, finished: boolean): Promise<Bytes> {
  return shootClip(tab, shot, finished, wholePixels);
}

/**
 * Takes a picture that is the answer as it is, of exactly the size that is planned. One that a browser does not give so is as near to it as whole CSS
 * pixels allow, and never larger.
 *
 * A browser counts the CSS pixels of a clip that are whole, multiplies them by the scale and rounds: that seldom makes both sides right. What it draws
 * meanwhile on the page's surface has the clip's size to the pixel. A second session, which emulates nothing, is given the surface as it is.
 *
 * @throws the signal's reason when the document is left
 */
export async function shootExactly(tab: Studio, shot: Shot, signal: AbortSignal): Promise<Bytes> {
  const { output } = shot.plan;
  if (isEqual(sizeOfClip(shot), output)) {
    const bytes = await shoot(tab, shot, true);
    if (isOfSize(bytes, output)) return bytes;
  }
  const exact = await shootSurface(tab, shot, signal);
  if (exact !== null) return exact;
  const { clip, scale } = nearest(shot);
  return shootClip(
    tab,
    { ...shot, plan: { ...shot.plan, clip: { ...shot.plan.clip, ...clip }, scale } },
    true,
    Math.round,
  );
}

async function shootClip(
  { session }: Studio,
  shot: Shot,
  finished: boolean,
  whole: (length: number) => number,
): Promise<Bytes> {
  const { width, height } = cssSize(shot, shot.plan.clip);
  const { data } = await session.send("Page.captureScreenshot", {
    ...(finished ? wantedImage(shot.request) : { format: "png", optimizeForSpeed: true }),
    ...framing(shot, { width: whole(width), height: whole(height) }),
  });
  return read(data);
}

/** The surface that a page is drawn on for a clip of the planned size; null when it does not come to have that size. */
async function shootSurface(
  { page, session }: Studio,
  shot: Shot,
  signal: AbortSignal,
): Promise<Bytes | null> {
  const { output, scale } = shot.plan;
  // A surface that is not ready could not be told from one that is.
  if (isEqual(output, shot.request.screen)) return null;
  const onlooker = await page.createCDPSession().catch(() => null);
  if (onlooker === null) return null;
  try {
    let drawn: Size = output;
    for (let tries = 0; tries < SURFACE_TRIES; tries++) {
      signal.throwIfAborted();
      const clip = cssSize(shot, {
        width: within(drawn.width) / scale,
        height: within(drawn.height) / scale,
      });
      // The onlooker asks first: it is answered once something new is drawn, and the clip is not undone before that. The clip's own picture
      // is of no use.
      const [{ data }] = await Promise.all([
        onlooker.send("Page.captureScreenshot", wantedImage(shot.request)),
        session.send("Page.captureScreenshot", {
          format: "jpeg",
          quality: 1,
          optimizeForSpeed: true,
          ...framing(shot, clip),
        }),
      ]);
      const bytes = read(data);
      const size = imageSize(bytes);
      if (size === null) return null;
      if (isEqual(size, output)) return bytes;
      const excess = { width: size.width - output.width, height: size.height - output.height };
      // Otherwise it is the page as it was before, or is again.
      if (Math.max(Math.abs(excess.width), Math.abs(excess.height)) > MAX_EXCESS) continue;
      drawn = { width: drawn.width - excess.width, height: drawn.height - excess.height };
    }
    return null;
  } finally {
    onlooker.detach().catch(() => undefined);
  }
}

/**
 * The clip of whole CSS pixels, and its scale, that come nearest to a size without passing it: a part of a CSS pixel less or more on each side, rather
 * than as many pixels of the picture as a CSS pixel has.
 */
function nearest(shot: Shot): { readonly clip: Size; readonly scale: number } {
  const { output } = shot.plan;
  const { width, height } = cssSize(shot, shot.plan.clip);
  const around = (length: number) => [Math.max(1, Math.floor(length + 0.001)), wholePixels(length)];
  const clips = around(width).flatMap((w) => around(height).map((h) => ({ width: w, height: h })));
  const { clip, scale } = clips
    .map((clip) => {
      const scale = Math.min(output.width / clip.width, output.height / clip.height);
      const missing = output.width - clip.width * scale + (output.height - clip.height * scale);
      return { clip, scale, missing };
    })
    .reduce((best, other) => (other.missing < best.missing ? other : best));
  return {
    clip: { width: clip.width * shot.zoom, height: clip.height * shot.zoom },
    scale: scale / shot.zoom,
  };
}

/** The size of the picture that a browser makes of a clip of whole CSS pixels. */
function sizeOfClip(shot: Shot): Size {
  const { width, height } = cssSize(shot, shot.plan.clip);
  const scale = shot.plan.scale * shot.zoom;
  return { width: Math.round(wholePixels(width) * scale), height: Math.round(wholePixels(height) * scale) };
}

function cssSize({ zoom }: Shot, { width, height }: Size): Size {
  return { width: width / zoom, height: height / zoom };
}

function wantedImage({ format, quality }: Shot["request"]): ImageWish {
  return { format, ...(format !== "png" && { quality }) };
}

/** Where a picture is on the page, and how large it is drawn; `size` in CSS pixels. */
function framing(
  { request, region, plan, zoom }: Shot,
  size: Size,
): Pick<ImageWish, "captureBeyondViewport" | "clip"> {
  const { clip, scale } = plan;
  const bottom = region.y + clip.y + clip.height;
  const right = region.x + clip.x + clip.width;
  const { screen } = request;
  return {
    captureBeyondViewport: region.x > 0 || region.y > 0 || bottom > screen.height || right > screen.width,
    clip: {
      x: (region.x + clip.x) / zoom,
      y: (region.y + clip.y) / zoom,
      ...size,
      scale: (scale * zoom) / screen.deviceScaleFactor,
    },
  };
}

/** Throws GatewayError 422 for an image of too many bytes. */
function read(data: string): Bytes {
  const bytes = fromBase64(data);
  if (bytes.byteLength <= MAX_BYTES) return bytes;
  throw new GatewayError(422, "The image is too large; ask for a smaller size, or for jpg or webp.", {
    code: "page_too_large",
    param: "size",
  });
}

/** The whole number of pixels that a length begins; a rounding error does not begin one. Rather a little more of the page than the last row missing. */
function wholePixels(length: number): number {
  return Math.ceil(length - 0.001);
}

/** A length that rounding as well as taking every pixel that it begins makes so many pixels: browsers do either. */
function within(pixels: number): number {
  return pixels - 0.01;
}

/** Whether an image has a size; one that does not say which it has is taken at its word. */
export function isOfSize(image: Bytes, wanted: Size): boolean {
  const size = imageSize(image);
  return size === null || isEqual(size, wanted);
}

function isEqual(one: Size, other: Size): boolean {
  return one.width === other.width && one.height === other.height;
}
