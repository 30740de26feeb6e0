import { settles, sleep } from "./evaluate.ts";

/** How often a page is asked whether it is still there, milliseconds. */
const PULSE_MS = 500;
/** Share of the time that a page must have computed for, to be the one that is to blame. */
const BUSY = 0.6;
/** A page that does not say how long it has computed, or waits for something, has so many times as long. */
const PATIENCE = 3;

/** How long a page may compute, milliseconds of its process's time: a slow machine is not the page's fault. */
export interface Patience {
  /** Without a pause; what takes longer is ended. */
  readonly blockedMs: number;
  /** In all; what takes longer is taken as it is. */
  readonly computingMs: number;
}

/** The part of a page's DevTools session that is needed. */
export interface PageSession {
  send(method: "Runtime.evaluate", parameters: { expression: string }): Promise<unknown>;
  send(
    method: "Performance.getMetrics",
  ): Promise<{ readonly metrics: readonly { readonly name: string; readonly value: number }[] }>;
}

/** What watches a page. */
export interface Watch {
  /** Asked each time: it depends on who else is there. */
  patience(): Patience;
  /** The page has computed for longer than it may in all, milliseconds; may come more than once. */
  onTired(computedMs: number): void;
  isOver(): boolean;
}

/**
 * Asks a page again and again for a sign of life, until the watch is over.
 *
 * @returns whether the page has stopped to answer
 */
export async function losesPulse(
  session: PageSession,
  { patience, onTired, isOver }: Watch,
): Promise<boolean> {
  for (;;) {
    await sleep(PULSE_MS);
    if (isOver()) return false;
    const since = Date.now();
    const answer = session.send("Runtime.evaluate", { expression: "0" });
    const isAlive = await settles(answer, PULSE_MS);
    const before = await computedMs(session);
    if (before !== null && before > patience().computingMs && !isOver()) onTired(before);
    if (isAlive) continue;
    while (!(await settles(answer, PULSE_MS))) {
      if (isOver()) return false;
      const { blockedMs } = patience();
      const waited = Date.now() - since;
      if (waited < blockedMs) continue;
      const now = before === null ? null : await computedMs(session);
      const computed = before === null || now === null ? 0 : now - before;
      if (computed >= blockedMs * BUSY || waited >= blockedMs * PATIENCE) return true;
    }
  }
}

/** Milliseconds that the page's process has computed; null when not even the protocol can tell. */
async function computedMs(session: PageSession): Promise<number | null> {
  let seconds: number | null = null;
  const asked = session.send("Performance.getMetrics").then(({ metrics }) => {
    seconds = metrics.find(({ name }) => name === "ProcessTime")?.value ?? null;
  });
  await settles(asked, PULSE_MS);
  return seconds === null ? null : seconds * 1_000;
}
