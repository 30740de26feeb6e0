import type { CDPSession } from "@cloudflare/puppeteer";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import type {
  CaptureOutcome,
  CapturePlan,
  CaptureRequest,
  Clip,
  PageReport,
  PictureOutcome,
  PrintOutcome,
  Size,
} from "../../../core/ports/page-browser.ts";
import type { PageLimits } from "../../../core/variables/variables.ts";
import { MAX_PROCESSED_PIXELS, MAX_SIDE, planCapture } from "../../images/capture-plan.ts";
import { FULL_COLOUR_QUALITY } from "../../images/image-converter.ts";
import { readImageSize } from "../../images/image-size.ts";
import { AppliedSetup } from "../page/applied-setup.ts";
import { waitForVisibleBox } from "../page/elements.ts";
import { runOnPage } from "../page/page-load.ts";
import { PagePreparation } from "../page/page-preparation.ts";
import type { Stopwatch } from "../stopwatch.ts";
import { type CaptureTools, emulateDevice } from "../tab/emulation.ts";
import type { Tab } from "../tab/tab.ts";
import { findMissingGlyphs } from "./missing-glyphs.ts";
import { printPage } from "./print.ts";
import { hasSize, type Region, takeExactScreenshot, takeScreenshot } from "./screenshot.ts";
import { captureScroll } from "./scroll-animation.ts";

type Picture = Omit<PictureOutcome, keyof PageReport>;
type CaptureResult = Picture | Omit<PrintOutcome, keyof PageReport>;

/** How long to wait for an element after the page has loaded. */
const SELECTOR_WAIT_MS = 1_000;

/** Loads a page and captures it. Throws GatewayError if there is nothing to capture. */
export async function capture(
  tab: Tab,
  request: CaptureRequest,
  tools: CaptureTools,
  watch: Stopwatch,
): Promise<CaptureOutcome> {
  const { limits } = tools;
  await emulateDevice(tab, request, tools);
  const delayMs = request.delay * 1_000;
  const loading = {
    waitUntil: request.waitUntil,
    timeoutMs: limits.navigationMs + delayMs,
    commitMs: limits.responseStartMs,
    isDrawn: true,
  };
  const setup = new AppliedSetup(tab, request.setup);
  await setup.prepareLoad(request.url);
  const preparation = new PagePreparation(tab, request, limits);
  let missingGlyphs: readonly string[] = [];
  const { report, result } = await runOnPage<CaptureResult>(tab, request.url, loading, async (signal) => {
    watch.lap("load");
    await setup.changeDocument(signal);
    await preparation.prepare(signal);
    await setup.assertSucceeded();
    watch.lap("prepare");
    missingGlyphs = await findMissingGlyphs(tab);
    const { sheet } = request;
    const result =
      sheet === null ? takePicture(tab, request, limits, signal) : printPage(tab.session, sheet, signal);
    return result.finally(() => watch.lap("read"));
  });
  return { ...report, missingGlyphs, ...result };
}

async function takePicture(
  tab: Tab,
  request: CaptureRequest,
  limits: PageLimits,
  signal: AbortSignal,
): Promise<Picture> {
  if (request.scenario === "scroll") return captureScroll(tab, request, limits.pageHeight, signal);
  const zoom = request.screen.mobile ? await readZoom(tab.session) : 1;
  const subject = await readSubject(tab, request, zoom, limits, signal);
  const { region } = subject;
  signal.throwIfAborted();
  const plan = planCapture(region, request.frame, request.screen.deviceScaleFactor);
  const cuts = {
    cutAt: croppedHeight(subject, request, plan, zoom),
    cutWidthAt: subject.isTooWide ? Math.floor(region.width / zoom) : null,
  };
  const isScrolled = request.scrollTo !== null && !request.full;
  const shot = { request, region, plan, zoom, viewportTop: isScrolled ? region.y : 0 };
  if (isTooLargeToProcess(plan)) {
    const bytes = await takeExactScreenshot(tab, shot, signal);
    // The reported size must be the actual size of the image.
    const output = readImageSize(bytes) ?? plan.output;
    return { kind: "picture", bytes, plan: { ...plan, output }, finished: true, ...cuts };
  }
  const finished = isUsableAsIs(plan, request);
  const bytes = await takeScreenshot(tab, shot, finished);
  if (!finished || hasSize(bytes, plan.output)) return { kind: "picture", bytes, plan, finished, ...cuts };
  // The browser draws only whole CSS pixels, which may not add up to the size: then crop the image here.
  signal.throwIfAborted();
  const uncropped = await takeScreenshot(tab, shot, false);
  return { kind: "picture", bytes: uncropped, plan, finished: false, ...cuts };
}

/** Whether an image has too many pixels to process here: it must be used as the browser encodes it. */
function isTooLargeToProcess({ output }: CapturePlan): boolean {
  return output.width * output.height * 2 > MAX_PROCESSED_PIXELS;
}

/** Screen pixels per CSS pixel. */
async function readZoom(session: CDPSession): Promise<number> {
  const { cssVisualViewport } = await session.send("Page.getLayoutMetrics");
  return cssVisualViewport.scale > 0 ? cssVisualViewport.scale : 1;
}

/** The area to capture, and its uncropped height. */
interface Subject {
  readonly region: Region;
  /** The full height of the page if the whole page was requested, in pixels of the emulated screen; otherwise null. */
  readonly wholeHeight: number | null;
  /** True if the whole page was requested and is wider than an image may be. */
  readonly isTooWide: boolean;
}

async function readSubject(
  tab: Tab,
  request: CaptureRequest,
  zoom: number,
  limits: PageLimits,
  signal: AbortSignal,
): Promise<Subject> {
  if (request.selectors.length > 0) {
    const box = await readElementsBox(tab, request, signal);
    return { region: scaleRegion(box, zoom), wholeHeight: null, isTooWide: false };
  }
  const { width, height } = request.screen;
  if (!request.full && request.clip === null && request.scrollTo !== null) {
    const { cssVisualViewport } = await tab.session.send("Page.getLayoutMetrics");
    const region = { x: 0, y: cssVisualViewport.pageY * zoom, width, height };
    return { region, wholeHeight: null, isTooWide: false };
  }
  if (!request.full && request.clip === null) {
    return { region: { x: 0, y: 0, width, height }, wholeHeight: null, isTooWide: false };
  }
  const { cssContentSize } = await tab.session.send("Page.getLayoutMetrics");
  if (request.clip !== null) {
    assertClipOnPage(request.clip, {
      width: Math.max(width / zoom, cssContentSize.width),
      height: Math.max(height / zoom, cssContentSize.height),
    });
    return { region: scaleRegion(request.clip, zoom), wholeHeight: null, isTooWide: false };
  }
  const pageWidth = Math.round(cssContentSize.width * zoom);
  const regionWidth = Math.max(width, Math.min(MAX_SIDE, pageWidth));
  const content = cssContentSize.height * zoom;
  // The browser reports whole CSS pixels, but the visible part of a page on a phone can be fractional.
  const pageHeight = content - height < zoom ? height : content;
  return {
    region: { x: 0, y: 0, width: regionWidth, height: Math.min(pageHeight, limits.pageHeight) },
    wholeHeight: pageHeight,
    isTooWide: pageWidth > regionWidth,
  };
}

/** The smallest box around the first visible elements of all selectors, with the padding. */
async function readElementsBox(
  tab: Tab,
  { selectors, padding }: CaptureRequest,
  signal: AbortSignal,
): Promise<Region> {
  const boxes: Region[] = [];
  for (const [index, selector] of selectors.entries()) {
    const param = index === 0 ? "selector" : "selectors";
    boxes.push(await waitForVisibleBox(tab, { selector, param, waitMs: SELECTOR_WAIT_MS }, signal));
  }
  const x = Math.max(0, Math.min(...boxes.map((box) => box.x)) - padding);
  const y = Math.max(0, Math.min(...boxes.map((box) => box.y)) - padding);
  const right = Math.max(...boxes.map((box) => box.x + box.width)) + padding;
  const bottom = Math.max(...boxes.map((box) => box.y + box.height)) + padding;
  return { x, y, width: right - x, height: bottom - y };
}

function scaleRegion({ x, y, width, height }: Region, factor: number): Region {
  return { x: x * factor, y: y * factor, width: width * factor, height: height * factor };
}

/** Throws a 400 if the clip lies outside the page. */
function assertClipOnPage({ x, y }: Clip, page: Size): void {
  if (x < page.width && y < page.height) return;
  const [width, height] = [Math.ceil(page.width), Math.ceil(page.height)];
  throw invalidRequest(`The clip begins beyond the page, which has ${width} by ${height} pixels.`, "clip");
}

/** CSS pixels at which a page that is too high was cropped; null if it was not, or if the caller requested the crop. */
function croppedHeight(
  { region, wholeHeight }: Subject,
  request: CaptureRequest,
  { clip, output }: CapturePlan,
  zoom: number,
): number | null {
  if (wholeHeight === null) return null;
  // A rounding difference of one image pixel is not a crop.
  const pixel = clip.height / output.height;
  const isAll = region.height - clip.height <= pixel;
  if (request.frame.height !== null && !isAll) return null;
  const shownHeight = isAll ? region.height : clip.height;
  return wholeHeight - shownHeight > 1 + pixel ? Math.floor(shownHeight / zoom) : null;
}

/**
 * Whether the browser's own image can be used: it must have the right size. The browser encodes as well as this
 * program, except JPEG of high quality.
 */
function isUsableAsIs({ exact }: CapturePlan, { format, quality }: CaptureRequest): boolean {
  return exact && format !== "avif" && (format !== "jpeg" || quality < FULL_COLOUR_QUALITY);
}
