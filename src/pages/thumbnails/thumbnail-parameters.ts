import { invalidRequest } from "../../core/errors/gateway-error.ts";
import type { ImageFormat, Screen, ThumbnailOptions } from "../../core/ports/page-browser.ts";
import { readFreshness } from "../http/freshness.ts";
import { MAX_SELECTOR, readMoment } from "../http/moment-parameters.ts";
import { type PageSource, readPageUrl, readSetup } from "../http/page-setup-parameters.ts";
import { QueryParameters } from "../http/query-parameters.ts";
import type { OperationRequest } from "../operations/define-operation.ts";
import { DEVICE_NAMES, type Device, findDevice } from "./devices.ts";
import { readLocale, readTimezone } from "./locale-parameters.ts";
import { readPaperLayout } from "./paper-layout.ts";
import { readPrintOptions } from "./print-options.ts";
import { readClip, readRequestedSize, selectSubject } from "./size-parameters.ts";

/** A thumbnail request: the image, and the form of the answer. */
export interface ThumbnailRequest extends OperationRequest {
  readonly options: ThumbnailOptions;
  readonly output: "raw" | "json";
  readonly prettify: boolean;
}

/** The output formats of a page. */
export const FORMATS = ["jpg", "jpeg", "png", "webp", "avif", "pdf"] as const;
/** Formats of images with transparent parts. */
const TRANSPARENT_FORMATS: readonly string[] = ["png", "webp", "avif"];
/** Parameters for images only, and for PDFs only. */
const IMAGE_ONLY_PARAMETERS = ["size", "width", "height", "scale", "selector", "clip", "scrollTo"];
const PDF_ONLY_PARAMETERS = ["paper", "margins", "header", "footer", "pageRanges"];

const MAX_VIEWPORT = 1600;
/** Maximum characters of a user agent. */
export const MAX_USER_AGENT = 512;
/** Maximum number of `hide` and of `click` parameters. */
export const MAX_HIDDEN = 10;
export const MAX_CLICKS = 5;
/** Maximum number of `selectors`, and CSS pixels of `padding`. */
export const MAX_SELECTORS = 10;
export const MAX_PADDING = 1_000;
/** What an animation can show. */
export const SCENARIOS = ["scroll"] as const;
/** The CSS media types to choose from. */
export const MEDIA_TYPES = ["screen", "print"] as const;
/** The user agent for `mobile` without a device. */
const MOBILE_USER_AGENT =
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%s Mobile Safari/537.36";

/**
 * Parses the query of a thumbnail request (contract, GET /v1/thumbs/), including the additions to the contract.
 *
 * @throws GatewayError 400 that names the invalid parameter
 */
export function readThumbnailRequest(search: URLSearchParams, source: PageSource): ThumbnailRequest {
  const query = new QueryParameters(search);
  const url = readPageUrl(query, source).href;
  const setup = readSetup(query, source);
  const full = query.boolean("full", false);
  const selector = query.limitedText("selector", MAX_SELECTOR);
  const others = query.textList("selectors", MAX_SELECTORS, MAX_SELECTOR);
  const selectors = selector === null ? others : [selector, ...others];
  const clip = readClip(query);
  if (clip !== null && selectors.length > 0) {
    throw invalidRequest("The parameters clip and selector do not go together.", "clip");
  }
  const mobile = query.boolean("mobile", false);
  const device = readDevice(query);
  const userAgent = query.limitedText("userAgent", MAX_USER_AGENT);
  const kind = query.choice("format", FORMATS) ?? "jpg";
  const isPdf = kind === "pdf";
  query.rejectParameters(
    isPdf ? IMAGE_ONLY_PARAMETERS : PDF_ONLY_PARAMETERS,
    isPdf ? "has no meaning for a PDF" : "needs format=pdf",
  );
  const outline = query.boolean("outline", false);
  if (!isPdf && outline) query.rejectParameters(["outline"], "needs format=pdf");
  if (!isPdf && query.boolean("landscape", false)) query.rejectParameters(["landscape"], "needs format=pdf");
  if (isPdf && others.length > 0)
    throw invalidRequest("The parameter selectors has no meaning for a PDF.", "selectors");
  const scenario = query.choice("scenario", SCENARIOS);
  if (scenario !== null)
    assertAnimationPossible({ kind, full, isViewport: clip === null && selectors.length === 0 });
  if (selectors.length === 0) query.rejectParameters(["padding"], "needs a selector");
  const format = kind === "jpg" ? "jpeg" : isPdf ? "png" : kind;
  const sheet = { ...readPaperLayout(query), ...readPrintOptions(query), outline };
  const scale = query.number("scale", 1, 3);
  const request: ThumbnailRequest = {
    options: {
      url,
      setup,
      sheet: isPdf ? sheet : null,
      format,
      quality: readQuality(query, format),
      full: full && !isPdf,
      scenario,
      frame: readRequestedSize(query, mobile, selectSubject({ clip, selectors, full }), scale ?? 1),
      screen: readScreen(query, mobile, device, scale),
      userAgent: userAgent ?? device?.userAgent ?? (mobile ? MOBILE_USER_AGENT : null),
      selectors,
      padding: query.integer("padding", 0, MAX_PADDING) ?? 0,
      scrollTo: query.limitedText("scrollTo", MAX_SELECTOR),
      detectFullHeight: query.boolean("detectFullHeight", false),
      clip,
      // Sorted, because the order has no effect: so equal requests share a cache entry.
      hide: [...new Set(query.textList("hide", MAX_HIDDEN, MAX_SELECTOR))].sort(),
      click: query.textList("click", MAX_CLICKS, MAX_SELECTOR),
      ...readMoment(query),
      scroll: query.boolean("scroll", full || isPdf),
      darkMode: query.boolean("darkMode", false),
      reducedMotion: query.boolean("reducedMotion", false),
      media: query.choice("media", MEDIA_TYPES),
      transparent: readTransparent(query, kind),
      timezone: readTimezone(query),
      locale: readLocale(query),
      blockAds: query.boolean("blockAds", false),
      blockCookieBanners: query.boolean("blockCookieBanners", false),
    },
    output: query.choice("output", ["raw", "json"]) ?? "raw",
    prettify: query.boolean("prettify", false),
    setup,
    freshness: readFreshness(query, setup),
  };
  query.rejectUnknown();
  return request;
}

/** Throws a 400 for an animation of anything but the viewport, in another format than WebP. */
function assertAnimationPossible({
  kind,
  full,
  isViewport,
}: {
  readonly kind: string;
  readonly full: boolean;
  readonly isViewport: boolean;
}): void {
  if (kind !== "webp") throw invalidRequest("The parameter scenario needs format=webp.", "scenario");
  if (!full && isViewport) return;
  throw invalidRequest("The parameter scenario does not go with full, clip or a selector.", "scenario");
}

function readQuality(query: QueryParameters, format: ImageFormat): number {
  const quality = query.integer("quality", 1, 100) ?? 100;
  // Quality has no effect on png: so equal requests share a cache entry.
  return format === "png" ? 100 : quality;
}

function readTransparent(query: QueryParameters, kind: (typeof FORMATS)[number]): boolean {
  const transparent = query.boolean("transparent", false);
  if (!transparent || TRANSPARENT_FORMATS.includes(kind)) return transparent;
  throw invalidRequest("A transparent image needs format=png, format=webp or format=avif.", "transparent");
}

function readDevice(query: QueryParameters): Device | undefined {
  const name = query.text("device");
  if (name === null) return undefined;
  const device = findDevice(name);
  if (device === undefined) {
    throw invalidRequest(`The parameter device must be one of ${DEVICE_NAMES.join(", ")}.`, "device");
  }
  return device;
}

function readScreen(
  query: QueryParameters,
  mobile: boolean,
  device: Device | undefined,
  scale: number | null,
): Screen {
  const defaultViewport = mobile ? { width: 412, height: 732 } : { width: 1200, height: 1200 };
  const viewport = query.dimensions("viewport", 1, MAX_VIEWPORT) ?? device ?? defaultViewport;
  return {
    width: query.integer("viewportWidth", 1, MAX_VIEWPORT) ?? viewport.width,
    height: query.integer("viewportHeight", 1, MAX_VIEWPORT) ?? viewport.height,
    deviceScaleFactor: scale ?? device?.deviceScaleFactor ?? (mobile ? 2 : 1),
    mobile: device?.mobile === true || mobile,
    touch: device?.touch === true || mobile,
  };
}
