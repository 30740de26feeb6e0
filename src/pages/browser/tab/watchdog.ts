import { sleep } from "../../../core/ports/clock.ts";
import { settlesWithin } from "./evaluate.ts";

/** Interval of the checks whether a page responds, milliseconds. */
const CHECK_MS = 500;
/** A page counts as the cause of a stall if it computed for this share of the time. */
const MIN_BUSY_SHARE = 0.6;
/** Factor on the limit for a page that does not report its computing time, or that waits instead of computing. */
const UNMEASURED_FACTOR = 3;

/**
 * How long a page may compute, in milliseconds of its process's CPU time, so that a slow machine does not count against
 * the page.
 */
export interface CpuBudget {
  /** Limit without a pause; then the page is ended. */
  readonly maxBlockedMs: number;
  /** Limit in total; then the page is captured as it is. */
  readonly maxTotalMs: number;
}

/** The part of a page's DevTools session that the watchdog needs. */
export interface WatchdogSession {
  send(method: "Runtime.evaluate", parameters: { expression: string }): Promise<unknown>;
  send(
    method: "Performance.getMetrics",
  ): Promise<{ readonly metrics: readonly { readonly name: string; readonly value: number }[] }>;
}

/** The parameters of one watchdog. */
export interface WatchdogOptions {
  /** Called for each check: the limits depend on the other active clients. */
  cpuBudget(): CpuBudget;
  /** Called if the page has computed for longer than the total limit, milliseconds; possibly several times. */
  onBudgetExceeded(computedMs: number): void;
  /** True when the work with the page has ended; then the watchdog stops. */
  isOver(): boolean;
}

/**
 * Checks repeatedly whether a page responds, until `isOver`.
 *
 * @returns true if the page has stopped responding
 */
export async function watchUntilUnresponsive(
  session: WatchdogSession,
  { cpuBudget, onBudgetExceeded, isOver }: WatchdogOptions,
): Promise<boolean> {
  for (;;) {
    await sleep(CHECK_MS);
    if (isOver()) return false;
    const since = Date.now();
    const answer = session.send("Runtime.evaluate", { expression: "0" });
    const isAlive = await settlesWithin(answer, CHECK_MS);
    const cpuBefore = await readCpuMs(session);
    if (cpuBefore !== null && cpuBefore > cpuBudget().maxTotalMs && !isOver()) onBudgetExceeded(cpuBefore);
    if (isAlive) continue;
    while (!(await settlesWithin(answer, CHECK_MS))) {
      if (isOver()) return false;
      const { maxBlockedMs } = cpuBudget();
      const waited = Date.now() - since;
      if (waited < maxBlockedMs) continue;
      const cpuNow = cpuBefore === null ? null : await readCpuMs(session);
      const computed = cpuBefore === null || cpuNow === null ? 0 : cpuNow - cpuBefore;
      if (computed >= maxBlockedMs * MIN_BUSY_SHARE || waited >= maxBlockedMs * UNMEASURED_FACTOR)
        return true;
    }
  }
}

/** CPU time of the page's process in milliseconds; null if the browser does not report it in time. */
async function readCpuMs(session: WatchdogSession): Promise<number | null> {
  let seconds: number | null = null;
  const request = session.send("Performance.getMetrics").then(({ metrics }) => {
    seconds = metrics.find(({ name }) => name === "ProcessTime")?.value ?? null;
  });
  await settlesWithin(request, CHECK_MS);
  return seconds === null ? null : seconds * 1_000;
}
