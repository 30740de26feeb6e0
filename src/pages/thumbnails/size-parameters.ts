import { GatewayError, invalidRequest } from "../../core/errors/gateway-error.ts";
import type { Clip, RequestedSize, Size, ThumbnailOptions } from "../../core/ports/page-browser.ts";
import { integer, type Parameter, parsed, shortText } from "../http/parameter-table.ts";
import { parseDimensions } from "../http/query-parameters.ts";
import { MAX_PIXELS, MAX_SIDE } from "../images/capture-plan.ts";

/** Two sides; null if not given. */
type Sides = Omit<RequestedSize, "fit">;

const SUBJECT_SIZE: Sides = { width: null, height: null };

/** The predefined sizes (docs/page-contract/thumbnails.md); `o` is the subject's own size. */
const PREDEFINED_SIZES: Readonly<Record<string, Sides>> = {
  t: { width: 90, height: 68 },
  s: { width: 120, height: 90 },
  m: { width: 200, height: 150 },
  l: { width: 400, height: 300 },
  x: { width: 480, height: 360 },
  og: { width: 1200, height: 630 },
  o: SUBJECT_SIZE,
};

function findPredefinedSize(name: string): Sides | undefined {
  const key = name.toLowerCase();
  return Object.hasOwn(PREDEFINED_SIZES, key) ? PREDEFINED_SIZES[key] : undefined;
}

/** The maximum top of a clip, CSS pixels. */
const MAX_CLIP_TOP = 20_000;

/** The subject of an image. */
export type Subject = "viewport" | "page" | "element" | "clip";

/** The subject of an image, from its parameters. */
export function selectSubject({
  clip,
  selectors,
  full,
}: Pick<ThumbnailOptions, "clip" | "selectors" | "full">): Subject {
  if (clip !== null) return "clip";
  if (selectors.length > 0) return "element";
  return full ? "page" : "viewport";
}

/** The size of an image. */
export const SIZE_PARAMETERS = {
  size: shortText("t, s, m, l, x, og, o, or <width>x<height>."),
  width: integer(1, MAX_SIDE, "The width of the image in pixels."),
  height: integer(1, MAX_SIDE, "The height of the image in pixels."),
};

/** The part of a page that an image shows. */
export const CLIP: Parameter<Clip | null> = parsed(
  shortText("The part of the page to show: <x>,<y>,<width>,<height> in CSS pixels."),
  parseClip,
);

/** Parses `<x>,<y>,<width>,<height>`. Throws a 400 that names the parameter `clip`. */
function parseClip(text: string): Clip {
  const [x, y, width, height] =
    /^(\d{1,5}),(\d{1,5}),(\d{1,5}),(\d{1,5})$/.exec(text.replaceAll(" ", ""))?.slice(1).map(Number) ?? [];
  const isWithin = (value: number | undefined, min: number, max: number): value is number =>
    value !== undefined && value >= min && value <= max;
  if (
    isWithin(x, 0, MAX_SIDE) &&
    isWithin(y, 0, MAX_CLIP_TOP) &&
    isWithin(width, 1, MAX_SIDE) &&
    isWithin(height, 1, MAX_SIDE)
  ) {
    if (!isTooLarge({ width, height })) return { x, y, width, height };
    throw new GatewayError(400, `An image may have at most ${MAX_PIXELS} pixels.`, {
      code: "page_too_large",
      param: "clip",
    });
  }
  const message = `The parameter clip must be <x>,<y>,<width>,<height> in CSS pixels of the page, such as 0,600,800,400: x from 0 to ${MAX_SIDE}, y from 0 to ${MAX_CLIP_TOP}, each side from 1 to ${MAX_SIDE}.`;
  throw invalidRequest(message, "clip");
}

/**
 * The requested size, from `size`, then `width` and `height`, each multiplied by `scale`.
 *
 * A whole page keeps its proportions and gets the width, unless a height is given as a number. An element or a clip is
 * fitted into a size, and keeps its proportions if only one side is given. A clip without a requested size keeps its
 * own.
 */
export function getRequestedSize(
  { size: name, width, height }: Sides & { readonly size: string | null },
  mobile: boolean,
  subject: Subject,
  scale: number,
): RequestedSize {
  const defaultSize = subject === "clip" ? SUBJECT_SIZE : { width: 320, height: mobile ? 568 : 240 };
  const predefined = name === null ? defaultSize : findPredefinedSize(name);
  const size = predefined ?? parseCustomSize(name ?? "");
  const combined = combineSizes(subject, size, { width, height }, predefined === undefined);
  const frame = {
    width: scaleSide(combined.width, scale),
    height: scaleSide(combined.height, scale),
    fit: combined.fit,
  };
  if (isTooLarge(combined)) {
    throw new GatewayError(400, `An image may have at most ${MAX_PIXELS} pixels.`, {
      code: "page_too_large",
      param: width === null && height === null ? "size" : width === null ? "height" : "width",
    });
  }
  if (isTooLarge(frame)) {
    const message = `An image may have at most ${MAX_PIXELS} pixels and ${MAX_SIDE} on a side, scale counted in.`;
    throw new GatewayError(400, message, { code: "page_too_large", param: "scale" });
  }
  return frame;
}

function scaleSide(side: number | null, scale: number): number | null {
  return side === null ? null : Math.round(side * scale);
}

function isTooLarge({ width, height }: Sides): boolean {
  return Math.max(width ?? 1, height ?? 1) > MAX_SIDE || (width ?? 1) * (height ?? 1) > MAX_PIXELS;
}

function combineSizes(
  subject: Subject,
  size: Sides,
  { width, height }: Sides,
  isInNumbers: boolean,
): RequestedSize {
  if ((subject === "element" || subject === "clip") && (width === null || height === null)) {
    return width === null && height === null ? { ...size, fit: "contain" } : { width, height, fit: "cover" };
  }
  const usualHeight = subject === "page" && !isInNumbers ? null : size.height;
  return { width: width ?? size.width, height: height ?? usualHeight, fit: "cover" };
}

function parseCustomSize(text: string): Size {
  if (/^\s*\d/.test(text)) return parseDimensions("size", text, 1, MAX_SIDE);
  const names = Object.keys(PREDEFINED_SIZES).join(", ");
  throw invalidRequest(
    `The parameter size must be one of ${names}, or <width>x<height>, such as 640x480.`,
    "size",
  );
}
