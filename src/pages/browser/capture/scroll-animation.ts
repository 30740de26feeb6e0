import { GatewayError } from "../../../core/errors/gateway-error.ts";
import { sleep } from "../../../core/ports/clock.ts";
import type { CaptureRequest, PictureOutcome } from "../../../core/ports/page-browser.ts";
import { type Frame, joinFrames } from "../../images/animated-webp.ts";
import { planCapture } from "../../images/capture-plan.ts";
import { readImageSize } from "../../images/image-size.ts";
import { MAX_OUTCOME_BYTES } from "../rpc-result.ts";
import { evaluateIsolated } from "../tab/evaluate.ts";
import type { Tab } from "../tab/tab.ts";
import { takeExactScreenshot } from "./screenshot.ts";

/** Maximum number of frames, and for how long each is shown, milliseconds. */
const MAX_FRAMES = 30;
const FRAME_MS = 100;
/** The first and the last frame are shown longer. */
const END_FRAME_MS = 800;
/** Share of the viewport's height by which frames differ, if the page is short enough. */
const STEP = 1 / 8;
/** Time for the page to draw after it was scrolled, and for a script to answer, milliseconds. */
const DRAW_MS = 60;
const SCRIPT_MS = 1_000;

/**
 * Scrolls from the top of a page to its end, and takes a picture of the viewport at each step.
 *
 * @param maxHeight CSS pixels of the page to show at most
 * @throws GatewayError 422 if the animation is too large; the signal's reason if the page navigates away
 */
export async function captureScroll(
  tab: Tab,
  request: CaptureRequest,
  maxHeight: number,
  signal: AbortSignal,
): Promise<Pick<PictureOutcome, "kind" | "bytes" | "plan" | "finished" | "cutAt" | "cutWidthAt">> {
  const { width, height, deviceScaleFactor } = request.screen;
  const { cssContentSize, cssVisualViewport } = await tab.session.send("Page.getLayoutMetrics");
  const zoom = cssVisualViewport.scale > 0 ? cssVisualViewport.scale : 1;
  const distance = Math.max(0, Math.min(cssContentSize.height, maxHeight) - cssVisualViewport.clientHeight);
  const steps = Math.min(MAX_FRAMES - 1, Math.ceil(distance / (cssVisualViewport.clientHeight * STEP)));
  const planned = planCapture({ width, height }, request.frame, deviceScaleFactor);
  // The frames are the browser's own: they are neither resized nor encoded again.
  const ratio = Math.max(planned.output.width / width, planned.output.height / height);
  const plan = { ...planned, scale: ratio, exact: true };
  const frames: Frame[] = [];
  let bytes = 0;
  for (let step = 0; step <= steps; step++) {
    const top = steps === 0 ? 0 : Math.round((distance * step) / steps);
    const scroll = `scrollTo({ top: ${top}, left: 0, behavior: "instant" }), scrollY`;
    const reached = Number((await evaluateIsolated(tab, scroll, SCRIPT_MS)) ?? top);
    await sleep(DRAW_MS);
    signal.throwIfAborted();
    const y = (Number.isFinite(reached) ? reached : top) * zoom;
    const shot = { request, region: { x: 0, y, width, height }, plan, zoom, viewportTop: y };
    const image = await takeExactScreenshot(tab, shot, signal);
    bytes += image.byteLength;
    if (bytes > MAX_OUTCOME_BYTES) throw tooLarge();
    frames.push({ image, durationMs: step === 0 || step === steps ? END_FRAME_MS : FRAME_MS });
    if (tab.isCutShort) break;
  }
  const output = readImageSize(frames[0]?.image ?? new Uint8Array()) ?? plan.output;
  return {
    kind: "picture",
    bytes: joinFrames(frames, output),
    plan: { ...plan, output },
    finished: true,
    cutAt: cssContentSize.height > maxHeight ? Math.floor(maxHeight) : null,
    cutWidthAt: null,
  };
}

function tooLarge(): GatewayError {
  return new GatewayError(422, "The animation is too large; ask for a smaller size or quality.", {
    code: "page_too_large",
    param: "size",
  });
}
