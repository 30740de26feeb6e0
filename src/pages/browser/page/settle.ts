import { sleep } from "../../../core/ports/clock.ts";
import { evaluateIsolated } from "../tab/evaluate.ts";
import type { Tab } from "../tab/tab.ts";

/** For how long the document must not change, milliseconds. Every capture waits at least for it. */
const STILL_MS = 50;
/** For how long no request may be in flight after there was one: its answer often leads to the next, milliseconds. */
const QUIET_MS = 100;
const POLL_MS = 20;
/** Time for the page to answer beyond the time that its script takes, milliseconds. */
const ANSWER_MS = 500;

/**
 * Waits until a page has no request in flight, its document does not change, and its fonts and the images in view are
 * decoded. Finite animations and transitions end at once, infinite ones pause at their first frame.
 *
 * @param maxMs the maximum time, milliseconds
 * @returns when the page navigates away, too
 */
export async function waitUntilStill(tab: Tab, maxMs: number, signal: AbortSignal): Promise<void> {
  const end = Date.now() + maxMs;
  const remainingMs = () => (tab.isCutShort ? 0 : end - Date.now());
  const { activity } = tab;
  let quietMs = activity.isBusy ? QUIET_MS : 0;
  while (!signal.aborted && remainingMs() > 0) {
    if (!activity.isQuietFor(quietMs)) {
      quietMs = QUIET_MS;
      await Promise.race([sleep(Math.min(POLL_MS, remainingMs())), tab.whenCutShort]);
      continue;
    }
    const maxStillMs = Math.max(1, remainingMs());
    const stillness = evaluateIsolated(tab, createStillScript(maxStillMs), maxStillMs + ANSWER_MS);
    if ((await Promise.race([stillness, tab.whenCutShort])) === undefined) return;
    if (!activity.isBusy) return;
  }
  await endAnimations(tab);
}

/** Ends the finite animations of the shown document and pauses the infinite ones. */
export async function endAnimations(tab: Tab): Promise<void> {
  await evaluateIsolated(tab, `(() => { ${END_ANIMATIONS} endAnimations(); })()`, ANSWER_MS);
}

/** Defines `endAnimations`, which returns whether an animation was running. Animations of scrolling go on. */
const END_ANIMATIONS = `
  const MAX_ELEMENTS = 20000;
  const elements = document.getElementsByTagName("*");
  const roots = [document];
  for (let index = 0; index < Math.min(elements.length, MAX_ELEMENTS); index++)
    if (elements[index].shadowRoot) roots.push(elements[index].shadowRoot);
  const endAnimations = () => {
    let wasRunning = false;
    for (const animation of roots.flatMap((root) => root.getAnimations())) {
      if (animation.playState !== "running" || !(animation.timeline instanceof DocumentTimeline)) continue;
      wasRunning = true;
      try {
        const { endTime, delay } = animation.effect.getComputedTiming();
        if (endTime < Infinity && animation.playbackRate !== 0) animation.finish();
        else {
          animation.pause();
          animation.currentTime = Math.max(0, delay);
        }
      } catch {}
    }
    return wasRunning;
  };`;

/**
 * An expression whose promise settles when the document is still, or after `maxMs`. Its value is whether the document
 * is still.
 */
function createStillScript(maxMs: number): string {
  return `(async () => {
  ${END_ANIMATIONS}
  const start = performance.now();
  const remaining = () => start + ${maxMs} - performance.now();
  const wait = (ms) => new Promise((resolve) => setTimeout(() => resolve(false), Math.max(0, ms)));
  const isInView = (image) => {
    const { top, left, bottom, right } = image.getBoundingClientRect();
    return bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
  };
  let changedAt = start;
  const observer = new MutationObserver(() => { changedAt = performance.now(); });
  for (const root of roots)
    observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
  try {
    for (;;) {
      if (endAnimations()) changedAt = performance.now();
      const images = [...document.images].slice(0, 200).filter(isInView);
      const decoded = [document.fonts.ready, ...images.map((image) => image.decode().catch(() => undefined))];
      await Promise.race([Promise.all(decoded), wait(remaining())]);
      if (performance.now() - changedAt >= ${STILL_MS}) return true;
      if (remaining() <= 0) return false;
      await wait(Math.min(${POLL_MS}, remaining()));
    }
  } finally {
    observer.disconnect();
  }
})()`;
}
