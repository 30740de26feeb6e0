import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type CpuBudget, watchUntilUnresponsive } from "../../../../../src/pages/browser/tab/watchdog.ts";

interface Metrics {
  readonly metrics: readonly { readonly name: string; readonly value: number }[];
}

/** A page that computes a share of the time, and whether its scripts let go in between. */
class Computing {
  readonly #share: number;
  readonly #answers: boolean;
  readonly #since = Date.now();

  constructor(share: number, answers: boolean) {
    this.#share = share;
    this.#answers = answers;
  }

  send(method: "Runtime.evaluate", parameters: { expression: string }): Promise<unknown>;
  send(method: "Performance.getMetrics"): Promise<Metrics>;
  async send(method: string): Promise<Metrics> {
    if (method === "Runtime.evaluate" && !this.#answers) return new Promise<Metrics>(() => undefined);
    const value = ((Date.now() - this.#since) / 1_000) * this.#share;
    return { metrics: [{ name: "ProcessTime", value }] };
  }
}

describe("the watchdog of a page", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** When the page exceeded its CPU budget, and when it stopped responding; milliseconds. */
  const watch = async (page: Computing, cpuBudget: () => CpuBudget, ms = 30_000) => {
    const since = Date.now();
    const seen: { tired?: number; lost?: number } = {};
    let isOver = false;
    const lost = watchUntilUnresponsive(page, {
      cpuBudget: cpuBudget,
      onBudgetExceeded: () => {
        seen.tired ??= Date.now() - since;
      },
      isOver: () => isOver,
    }).then((stopped) => {
      if (stopped) seen.lost = Date.now() - since;
    });
    await vi.advanceTimersByTimeAsync(ms);
    isOver = true;
    await vi.advanceTimersByTimeAsync(2_000);
    await lost;
    return seen;
  };

  it("ends a page that computes for longer than allowed without a pause", async () => {
    const { lost } = await watch(new Computing(1, false), () => ({ maxBlockedMs: 5_000, maxTotalMs: 1e9 }));
    expect(lost).toBeGreaterThan(5_000);
    expect(lost).toBeLessThan(8_000);
  });

  it("never ends a page that pauses if there is no total limit", async () => {
    expect(await watch(new Computing(2, true), () => ({ maxBlockedMs: 5_000, maxTotalMs: 1e9 }))).toEqual({});
  });

  it("reports a page that computes for longer than allowed in total, by its CPU time and not by the clock", async () => {
    const patience = () => ({ maxBlockedMs: 5_000, maxTotalMs: 8_000 });
    const { tired, lost } = await watch(new Computing(2, true), patience);
    expect(lost).toBeUndefined();
    expect(tired).toBeGreaterThanOrEqual(4_000);
    expect(tired).toBeLessThan(6_000);
    expect(await watch(new Computing(0.1, true), patience)).toEqual({});
  });

  it("reads the allowed time again at each check", async () => {
    let computingMs = 1e9;
    setTimeout(() => {
      computingMs = 1_000;
    }, 10_000);
    const { tired } = await watch(new Computing(1, true), () => ({
      maxBlockedMs: 5_000,
      maxTotalMs: computingMs,
    }));
    expect(tired).toBeGreaterThanOrEqual(10_000);
  });
});
