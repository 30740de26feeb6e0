import type { CDPSession } from "@cloudflare/puppeteer";
import { invalidRequest } from "../../errors/gateway-error.ts";
import type {
  CaptureOutcome,
  CaptureRequest,
  Clip,
  FramePlan,
  PageReport,
  PictureOutcome,
  PrintOutcome,
  Size,
} from "../../platform/page-browser.ts";
import type { PageLimits } from "../../platform/variables.ts";
import { MAX_PROCESSED_PIXELS, MAX_SIDE, planFrame } from "../thumbnails/frame.ts";
import { imageSize } from "../thumbnails/image-size.ts";
import { FULL_COLOUR_QUALITY } from "../thumbnails/images.ts";
import { visibleBox } from "./elements.ts";
import { type CaptureTools, emulate } from "./emulation.ts";
import { onPage } from "./navigate.ts";
import { Preparation } from "./preparation.ts";
import { print } from "./print.ts";
import { isOfSize, type Region, shoot, shootExactly } from "./shoot.ts";
import type { Stopwatch } from "./stopwatch.ts";
import type { Tab } from "./tab.ts";

type Picture = Omit<PictureOutcome, keyof PageReport>;
type Made = Picture | Omit<PrintOutcome, keyof PageReport>;

/** How long an element may appear after the page has loaded. */
const SELECTOR_WAIT_MS = 1_000;

/** Loads a page and captures it as asked. Throws GatewayError when there is nothing to capture. */
export async function capture(
  tab: Tab,
  request: CaptureRequest,
  tools: CaptureTools,
  watch: Stopwatch,
): Promise<CaptureOutcome> {
  const { limits } = tools;
  await emulate(tab, request, tools);
  const delayMs = request.delay * 1_000;
  const loading = {
    waitUntil: request.waitUntil,
    timeoutMs: limits.navigationMs + delayMs,
    commitMs: limits.commitMs,
  };
  const preparation = new Preparation(tab, request, limits);
  const { report, result } = await onPage<Made>(tab, request.url, loading, async (signal) => {
    watch.lap("load");
    await preparation.prepare(signal);
    watch.lap("prepare");
    const { sheet } = request;
    const made =
      sheet === null ? takePicture(tab, request, limits, signal) : print(tab.session, sheet, signal);
    return made.finally(() => watch.lap("read"));
  });
  return { ...report, ...result };
}

async function takePicture(
  tab: Tab,
  request: CaptureRequest,
  limits: PageLimits,
  signal: AbortSignal,
): Promise<Picture> {
  const zoom = request.screen.mobile ? await zoomOf(tab.session) : 1;
  const subject = await subjectOf(tab, request, zoom, limits, signal);
  const { region } = subject;
  signal.throwIfAborted();
  const plan = planFrame(region, request.frame, request.screen.deviceScaleFactor);
  const cuts = {
    cutAt: cutOf(subject, request, plan, zoom),
    cutWidthAt: subject.isTooWide ? Math.floor(region.width / zoom) : null,
  };
  const shot = { request, region, plan, zoom };
  if (isLarge(plan)) {
    const bytes = await shootExactly(tab, shot, signal);
    // What is told of an image is the size that it has.
    const output = imageSize(bytes) ?? plan.output;
    return { kind: "picture", bytes, plan: { ...plan, output }, finished: true, ...cuts };
  }
  const finished = isFinished(plan, request);
  const bytes = await shoot(tab, shot, finished);
  if (!finished || isOfSize(bytes, plan.output)) return { kind: "picture", bytes, plan, finished, ...cuts };
  // The browser draws whole CSS pixels only, which may not add up to the size: then the image is cut to it here.
  signal.throwIfAborted();
  const larger = await shoot(tab, shot, false);
  return { kind: "picture", bytes: larger, plan, finished: false, ...cuts };
}

/** Whether an image has more pixels than can be worked on here: it is the browser's own, as it is. */
function isLarge({ output }: FramePlan): boolean {
  return output.width * output.height * 2 > MAX_PROCESSED_PIXELS;
}

/** Screen pixels that the page is drawn with for each CSS pixel. */
async function zoomOf(session: CDPSession): Promise<number> {
  const { cssVisualViewport } = await session.send("Page.getLayoutMetrics");
  return cssVisualViewport.scale > 0 ? cssVisualViewport.scale : 1;
}

/** What the picture is to show, and how high that is in truth. */
interface Subject {
  readonly region: Region;
  /** The height of the page, where all of it was asked for; pixels of the emulated screen. */
  readonly wholeHeight: number | null;
  /** The page is wider than an image may be, and all of it was asked for. */
  readonly isTooWide: boolean;
}

async function subjectOf(
  tab: Tab,
  request: CaptureRequest,
  zoom: number,
  limits: PageLimits,
  signal: AbortSignal,
): Promise<Subject> {
  if (request.selector !== null) {
    const wanted = { selector: request.selector, param: "selector", waitMs: SELECTOR_WAIT_MS };
    const box = await visibleBox(tab, wanted, signal);
    return { region: enlarged(box, zoom), wholeHeight: null, isTooWide: false };
  }
  const { width, height } = request.screen;
  if (!request.full && request.clip === null) {
    return { region: { x: 0, y: 0, width, height }, wholeHeight: null, isTooWide: false };
  }
  const { cssContentSize } = await tab.session.send("Page.getLayoutMetrics");
  if (request.clip !== null) {
    refuseBeyond(request.clip, {
      width: Math.max(width / zoom, cssContentSize.width),
      height: Math.max(height / zoom, cssContentSize.height),
    });
    return { region: enlarged(request.clip, zoom), wholeHeight: null, isTooWide: false };
  }
  const all = Math.round(cssContentSize.width * zoom);
  const wide = Math.max(width, Math.min(MAX_SIDE, all));
  const content = cssContentSize.height * zoom;
  // The browser tells whole CSS pixels, which what a phone shows of a page need not have.
  const high = content - height < zoom ? height : content;
  return {
    region: { x: 0, y: 0, width: wide, height: Math.min(high, limits.pageHeight) },
    wholeHeight: high,
    isTooWide: all > wide,
  };
}

function enlarged({ x, y, width, height }: Region, by: number): Region {
  return { x: x * by, y: y * by, width: width * by, height: height * by };
}

/** Throws a 400 for a clip that shows nothing of a page. */
function refuseBeyond({ x, y }: Clip, page: Size): void {
  if (x < page.width && y < page.height) return;
  const [width, height] = [Math.ceil(page.width), Math.ceil(page.height)];
  throw invalidRequest(`The clip begins beyond the page, which has ${width} by ${height} pixels.`, "clip");
}

/** CSS pixels at which a page that is too high for a picture was cut; null: it was not, or only as the caller wants. */
function cutOf(
  { region, wholeHeight }: Subject,
  request: CaptureRequest,
  { clip, output }: FramePlan,
  zoom: number,
): number | null {
  if (wholeHeight === null) return null;
  // A pixel of the image that was rounded off is no loss.
  const pixel = clip.height / output.height;
  const isAll = region.height - clip.height <= pixel;
  if (request.frame.height !== null && !isAll) return null;
  const shown = isAll ? region.height : clip.height;
  return wholeHeight - shown > 1 + pixel ? Math.floor(shown / zoom) : null;
}

/**
 * Whether the browser's own image will do: it has the right size already, and the browser encodes it as well as we do, which it
 * does not for JPEG of high quality.
 */
function isFinished({ exact }: FramePlan, { format, quality }: CaptureRequest): boolean {
  return exact && (format !== "jpeg" || quality < FULL_COLOUR_QUALITY);
}
