import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TabQueue } from "../../../../src/pages/browser/tab-queue.ts";

describe("TabQueue", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("lets no more in than there are tabs, first come first served", async () => {
    const queue = new TabQueue({ tabs: 2, queue: 10, queueMs: 60_000 });
    const order: number[] = [];
    const done = Array.from({ length: 6 }, (_, index) =>
      queue.run(async () => {
        order.push(index);
        expect(queue.open).toBeLessThanOrEqual(2);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }),
    );
    await vi.runAllTimersAsync();
    await Promise.all(done);
    expect(order).toEqual([0, 1, 2, 3, 4, 5]);
    expect([queue.open, queue.mostOpen]).toEqual([0, 2]);
  });

  it("gives a tab back when the work fails", async () => {
    const queue = new TabQueue({ tabs: 1, queue: 1, queueMs: 1_000 });
    await expect(queue.run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    await expect(queue.run(async () => "next")).resolves.toBe("next");
  });

  it("refuses when too many wait, and whoever waits too long", async () => {
    const queue = new TabQueue({ tabs: 1, queue: 1, queueMs: 500 });
    let free: () => void = () => undefined;
    const first = queue.run(
      () =>
        new Promise<void>((resolve) => {
          free = resolve;
        }),
    );
    const second = expect(queue.run(async () => undefined)).rejects.toMatchObject({
      status: 503,
      code: "overloaded",
    });
    await expect(queue.run(async () => undefined)).rejects.toMatchObject({
      status: 503,
      code: "overloaded",
      headers: { "retry-after": "5" },
    });
    await vi.advanceTimersByTimeAsync(500);
    await second;
    free();
    await first;
    // The one that gave up has not kept the tab.
    await expect(queue.run(async () => "free")).resolves.toBe("free");
    expect(queue.open).toBe(0);
  });
});
