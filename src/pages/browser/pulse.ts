import type { CDPSession } from "@cloudflare/puppeteer";
import { settles, sleep } from "./evaluate.ts";

/** How often a page is asked whether it is still there, milliseconds. */
const PULSE_MS = 500;
/** Share of the time that a page must have computed for, to be the one that is to blame. */
const BUSY = 0.6;
/** A page that does not say how long it has computed, or waits for something, has so many times as long. */
const PATIENCE = 3;

/**
 * Asks a page again and again for a sign of life, until `isOver`.
 *
 * @param blockedMs how long a page may compute without a pause, milliseconds of its process's time: a slow machine is not the page's fault
 * @returns whether the page has stopped to answer
 */
export async function losesPulse(
  session: CDPSession,
  blockedMs: number,
  isOver: () => boolean,
): Promise<boolean> {
  for (;;) {
    await sleep(PULSE_MS);
    if (isOver()) return false;
    const since = Date.now();
    const answer = session.send("Runtime.evaluate", { expression: "0" });
    if (await settles(answer, PULSE_MS)) continue;
    const before = await computedMs(session);
    while (!(await settles(answer, PULSE_MS))) {
      if (isOver()) return false;
      const waited = Date.now() - since;
      if (waited < blockedMs) continue;
      const now = before === null ? null : await computedMs(session);
      const computed = before === null || now === null ? 0 : now - before;
      if (computed >= blockedMs * BUSY || waited >= blockedMs * PATIENCE) return true;
    }
  }
}

/** Milliseconds that the page's process has computed; null when not even the protocol can tell. */
async function computedMs(session: CDPSession): Promise<number | null> {
  let seconds: number | null = null;
  const asked = session.send("Performance.getMetrics").then(({ metrics }) => {
    seconds = metrics.find(({ name }) => name === "ProcessTime")?.value ?? null;
  });
  await settles(asked, PULSE_MS);
  return seconds === null ? null : seconds * 1_000;
}
