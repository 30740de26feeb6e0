import { settles, sleep } from "./evaluate.ts";

/** Interval of the checks whether a page responds, milliseconds. */
const PULSE_MS = 500;
/** A page counts as the cause of a stall if it computed for this share of the time. */
const BUSY = 0.6;
/** Factor on the limit for a page that does not report its computing time, or that waits instead of computing. */
const PATIENCE = 3;

/**
 * How long a page may compute, in milliseconds of its process's CPU time, so that a slow machine does not count against
 * the page.
 */
export interface Patience {
  /** Limit without a pause; then the page is ended. */
  readonly blockedMs: number;
  /** Limit in total; then the page is captured as it is. */
  readonly computingMs: number;
}

/** The part of a page's DevTools session that the watchdog needs. */
export interface PageSession {
  send(method: "Runtime.evaluate", parameters: { expression: string }): Promise<unknown>;
  send(
    method: "Performance.getMetrics",
  ): Promise<{ readonly metrics: readonly { readonly name: string; readonly value: number }[] }>;
}

/** The parameters of one watchdog. */
export interface Watch {
  /** Called for each check: the limits depend on the other active clients. */
  patience(): Patience;
  /** Called if the page has computed for longer than the total limit, milliseconds; possibly several times. */
  onTired(computedMs: number): void;
  isOver(): boolean;
}

/**
 * Checks repeatedly whether a page responds, until `isOver`.
 *
 * @returns true if the page has stopped responding
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

/** CPU time of the page's process in milliseconds; null if the protocol does not report it either. */
async function computedMs(session: PageSession): Promise<number | null> {
  let seconds: number | null = null;
  const asked = session.send("Performance.getMetrics").then(({ metrics }) => {
    seconds = metrics.find(({ name }) => name === "ProcessTime")?.value ?? null;
  });
  await settles(asked, PULSE_MS);
  return seconds === null ? null : seconds * 1_000;
}
