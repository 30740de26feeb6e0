import type { CapturePlan, RequestedSize, Size } from "../../core/ports/page-browser.ts";

/** The maximum side of an image (docs/page-contract.md, Limits). */
export const MAX_SIDE = 16_383;
/** Maximum pixels of an image: beyond it captures fail more often than they succeed. */
export const MAX_PIXELS = 40_000_000;
/** Maximum pixels, captured and resized together, that an isolate of 128 MB can process along with everything else. */
export const MAX_PROCESSED_PIXELS = 5_000_000;

/**
 * Plans an image of a subject. The subject fills the frame from its top: the excess is cropped at the bottom, or evenly
 * at the sides.
 *
 * A smaller image is captured at up to twice its size and then scaled down, because the browser draws very small
 * letters badly. A larger image is captured at its own size, so that it is sharp.
 *
 * @param subject the viewport, the whole page or one element, in pixels of the emulated screen
 * @param density device pixels per pixel of the emulated screen. It is the maximum capture density, unless the
 * image itself is denser. An image of the subject's own size has this density, or less if it would exceed the limits.
 */
export function planCapture(subject: Size, frame: RequestedSize, density: number): CapturePlan {
  const source = { width: Math.max(1, subject.width), height: Math.max(1, subject.height) };
  const output = outputSize(source, frame, density);
  const ratio = Math.max(output.width / source.width, output.height / source.height);
  const width = Math.min(source.width, output.width / ratio);
  const height = Math.min(source.height, output.height / ratio);
  const maxScale = Math.max(ratio, Math.min(Math.max(1, density), 2 * ratio));
  const budget = MAX_PROCESSED_PIXELS - output.width * output.height;
  const affordableScale = budget <= 0 ? ratio : Math.sqrt(budget / (width * height));
  const scale = Math.max(ratio, Math.min(maxScale, affordableScale));
  return {
    clip: { x: (source.width - width) / 2, y: 0, width, height },
    scale,
    output,
    exact: scale === ratio,
  };
}

function outputSize(source: Size, { width, height, fit }: RequestedSize, density: number): Size {
  if (width !== null && height !== null) {
    if (fit === "cover") return { width, height };
    const isWide = width / source.width < height / source.height;
    return isWide
      ? clampSize(width, (width * source.height) / source.width)
      : clampSize((height * source.width) / source.height, height);
  }
  if (width !== null) return clampSize(width, (width * source.height) / source.width);
  if (height !== null) return clampSize((height * source.width) / source.height, height);
  const maxDensity = Math.min(
    MAX_SIDE / Math.max(source.width, source.height),
    Math.sqrt(MAX_PIXELS / (source.width * source.height)),
  );
  // A whole subject at a lower density is better than a cropped one.
  const ownWidth = Math.round(source.width * Math.max(1, Math.min(density, maxDensity)));
  return clampSize(ownWidth, (ownWidth * source.height) / source.width);
}

/** Crops lengths beyond the limits: the image shows less of the subject, but is not distorted. */
function clampSize(width: number, height: number): Size {
  const clampedWidth = Math.min(MAX_SIDE, Math.max(1, Math.round(width)));
  const clampedHeight = Math.min(MAX_SIDE, Math.max(1, Math.round(height)));
  return {
    width: clampedWidth,
    height: Math.min(clampedHeight, Math.max(1, Math.floor(MAX_PIXELS / clampedWidth))),
  };
}
