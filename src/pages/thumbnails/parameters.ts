import { GatewayError, invalidRequest } from "../../errors/gateway-error.ts";
import type {
  Frame,
  ImageFormat,
  Screen,
  Size,
  ThumbnailOptions,
  WaitUntil,
} from "../../platform/page-browser.ts";
import type { UrlSafetyOptions } from "../../url-safety/index.ts";
import { type Freshness, readFreshness } from "../freshness.ts";
import { parseDimensions, QueryParameters } from "../parameters.ts";
import { DEVICE_NAMES, type Device, deviceNamed } from "./devices.ts";
import { MAX_PIXELS, MAX_SIDE } from "./frame.ts";

/** When a page counts as loaded. */
export const WAIT_UNTIL = [
  "load",
  "domcontentloaded",
  "networkidle0",
  "networkidle2",
] as const satisfies readonly WaitUntil[];

/** A thumbnail request: the image, and how to answer with it. */
export interface ThumbnailRequest {
  readonly options: ThumbnailOptions;
  readonly output: "raw" | "json";
  readonly prettify: boolean;
  readonly freshness: Freshness;
}

/** Two sides, of which each may be open. */
type Sides = Omit<Frame, "fit">;

/** The predefined sizes (contract, parameter `size`); `o` is the subject's own. */
const SIZES: Readonly<Record<string, Sides>> = {
  t: { width: 90, height: 68 },
  s: { width: 120, height: 90 },
  m: { width: 200, height: 150 },
  l: { width: 400, height: 300 },
  x: { width: 480, height: 360 },
  og: { width: 1200, height: 630 },
  o: { width: null, height: null },
};

function predefinedSize(name: string): Sides | undefined {
  const key = name.toLowerCase();
  return Object.hasOwn(SIZES, key) ? SIZES[key] : undefined;
}

const MAX_VIEWPORT = 1600;
/** What a phone says it is, when only `mobile` is asked for. */
const MOBILE_USER_AGENT =
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%s Mobile Safari/537.36";

/**
 * Reads the query of a thumbnail request (contract, GET /v1/thumbs/), and of what is offered beyond it: `webp`, `waitUntil`, `darkMode`,
 * `blockAds`, `blockCookieBanners`, `maxAge` and `staleWhileRevalidate`.
 *
 * @throws GatewayError 400 that names the parameter at fault
 */
export function readThumbnailRequest(search: URLSearchParams, safety: UrlSafetyOptions): ThumbnailRequest {
  const query = new QueryParameters(search);
  const url = query.page(safety).href;
  const full = query.boolean("full", false);
  const selector = limitedText(query, "selector", 1_000);
  const mobile = query.boolean("mobile", false);
  const device = readDevice(query);
  const userAgent = limitedText(query, "userAgent", 512);
  const request: ThumbnailRequest = {
    options: {
      url,
      format: readFormat(query),
      quality: query.integer("quality", 1, 100) ?? 100,
      full,
      frame: readFrame(query, mobile, selector !== null ? "element" : full ? "page" : "viewport"),
      screen: readScreen(query, mobile, device),
      userAgent: userAgent ?? device?.userAgent ?? (mobile ? MOBILE_USER_AGENT : null),
      selector,
      delay: query.integer("delay", 0, 10) ?? 0,
      waitUntil: query.choice("waitUntil", WAIT_UNTIL) ?? "load",
      darkMode: query.boolean("darkMode", false),
      blockAds: query.boolean("blockAds", false),
      blockCookieBanners: query.boolean("blockCookieBanners", false),
    },
    output: query.choice("output", ["raw", "json"]) ?? "raw",
    prettify: query.boolean("prettify", false),
    freshness: readFreshness(query),
  };
  query.refuseOthers();
  return request;
}

function readFormat(query: QueryParameters): ImageFormat {
  const format = query.choice("format", ["jpg", "jpeg", "png", "webp"]) ?? "jpg";
  return format === "jpg" ? "jpeg" : format;
}

function readDevice(query: QueryParameters): Device | undefined {
  const name = query.text("device");
  if (name === null) return undefined;
  const device = deviceNamed(name);
  if (device === undefined) {
    throw invalidRequest(`The parameter device must be one of ${DEVICE_NAMES.join(", ")}.`, "device");
  }
  return device;
}

/**
 * `size`, then `width` and `height`. The whole page keeps its shape and has the width, unless a height is asked for in numbers; an element is fitted
 * into a size, and keeps its shape when one side alone is asked for.
 */
function readFrame(query: QueryParameters, mobile: boolean, subject: "viewport" | "page" | "element"): Frame {
  const name = query.text("size");
  const width = query.integer("width", 1, MAX_SIDE);
  const height = query.integer("height", 1, MAX_SIDE);
  const predefined = name === null ? { width: 320, height: mobile ? 568 : 240 } : predefinedSize(name);
  const size = predefined ?? customSize(name ?? "");
  const frame = frameOf(subject, size, { width, height }, predefined === undefined);
  if ((frame.width ?? 1) * (frame.height ?? 1) > MAX_PIXELS) {
    throw new GatewayError(400, `An image may have at most ${MAX_PIXELS} pixels.`, {
      code: "page_too_large",
      param: width === null && height === null ? "size" : width === null ? "height" : "width",
    });
  }
  return frame;
}

function frameOf(
  subject: "viewport" | "page" | "element",
  size: Sides,
  { width, height }: Sides,
  isInNumbers: boolean,
): Frame {
  if (subject === "element" && (width === null || height === null)) {
    return width === null && height === null ? { ...size, fit: "contain" } : { width, height, fit: "cover" };
  }
  const usualHeight = subject === "page" && !isInNumbers ? null : size.height;
  return { width: width ?? size.width, height: height ?? usualHeight, fit: "cover" };
}

function customSize(text: string): Size {
  if (/^\s*\d/.test(text)) return parseDimensions("size", text, 1, MAX_SIDE);
  const names = Object.keys(SIZES).join(", ");
  throw invalidRequest(
    `The parameter size must be one of ${names}, or <width>x<height>, such as 640x480.`,
    "size",
  );
}

function readScreen(query: QueryParameters, mobile: boolean, device: Device | undefined): Screen {
  const usual = mobile ? { width: 412, height: 732 } : { width: 1200, height: 1200 };
  const both = query.dimensions("viewport", 1, MAX_VIEWPORT) ?? device ?? usual;
  return {
    width: query.integer("viewportWidth", 1, MAX_VIEWPORT) ?? both.width,
    height: query.integer("viewportHeight", 1, MAX_VIEWPORT) ?? both.height,
    deviceScaleFactor: device?.deviceScaleFactor ?? (mobile ? 2 : 1),
    mobile: device?.mobile === true || mobile,
    touch: device?.touch === true || mobile,
  };
}

function limitedText(query: QueryParameters, name: string, longest: number): string | null {
  const text = query.text(name);
  if (text === null) return null;
  const printable = [...text].every((character) => character >= " " && character !== "\u007f");
  if (text.length <= longest && printable) return text;
  throw invalidRequest(
    `The parameter ${name} must have at most ${longest} characters, without control characters.`,
    name,
  );
}
