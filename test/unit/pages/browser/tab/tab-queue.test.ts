import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TabQueue } from "../../../../../src/pages/browser/tab/tab-queue.ts";

describe("the queue for tabs", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("admits only as many requests as there are tabs, in order of arrival", async () => {
    const queue = new TabQueue({ tabs: 2, queue: 10, queueMs: 60_000 });
    const order: number[] = [];
    const done = Array.from({ length: 6 }, (_, index) =>
      queue.runInTab(`client ${index}`, async () => {
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

  it("frees a tab when the work fails", async () => {
    const queue = new TabQueue({ tabs: 1, queue: 1, queueMs: 1_000 });
    await expect(queue.runInTab("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    await expect(queue.runInTab("a", async () => "next")).resolves.toBe("next");
  });

  it("returns the result at once, and keeps the tab occupied until its cleanup has ended", async () => {
    const queue = new TabQueue({ tabs: 1, queue: 1, queueMs: 60_000 });
    const closing = Promise.withResolvers<void>();
    await expect(
      queue.runInTab("a", async (keep) => {
        keep(closing.promise);
        return "picture";
      }),
    ).resolves.toBe("picture");
    let hasEntered = false;
    const next = queue.runInTab("b", async () => {
      hasEntered = true;
    });
    await vi.advanceTimersByTimeAsync(1_000);
    expect([queue.open, hasEntered]).toEqual([1, false]);
    closing.reject(new Error("it does not close"));
    await next;
    expect([hasEntered, queue.open]).toEqual([true, 0]);
  });

  it("refuses requests if the queue is full or they wait too long", async () => {
    const queue = new TabQueue({ tabs: 1, queue: 1, queueMs: 500 });
    const first = hold(queue, "a");
    const second = expect(queue.runInTab("b", async () => undefined)).rejects.toMatchObject({
      status: 503,
      code: "overloaded",
    });
    await expect(queue.runInTab("c", async () => undefined)).rejects.toMatchObject({
      status: 503,
      code: "overloaded",
      headers: { "retry-after": "5" },
    });
    await vi.advanceTimersByTimeAsync(500);
    await second;
    first.free();
    await first.done;
    // The one that gave up has not kept the tab.
    await expect(queue.runInTab("b", async () => "free")).resolves.toBe("free");
    expect(queue.open).toBe(0);
  });

  it("keeps a tab free for other clients, however many one client requests", async () => {
    const queue = new TabQueue({ tabs: 3, queue: 50, queueMs: 60_000 });
    const greedy = Array.from({ length: 10 }, () => hold(queue, "greedy"));
    expect(queue.open).toBe(2);
    await expect(queue.runInTab("modest", async () => "at once")).resolves.toBe("at once");
    for (const { free } of greedy) free();
    await Promise.all(greedy.map(({ done }) => done));
    expect([queue.open, queue.mostOpen]).toEqual([0, 3]);
  });

  it("gives free tabs to the clients in turn", async () => {
    const queue = new TabQueue({ tabs: 2, queue: 50, queueMs: 60_000 });
    const order: string[] = [];
    const holders = [hold(queue, "x"), hold(queue, "y")];
    const names = ["a", "a", "a", "b", "c", "b"];
    const all = names.map((name) => queue.runInTab(name, async () => void order.push(name)));
    for (const { free } of holders) free();
    await Promise.all(all);
    expect(order).toEqual(["a", "b", "c", "a", "b", "a"]);
  });

  it("makes room in a full queue for clients with fewer requests in it", async () => {
    const queue = new TabQueue({ tabs: 1, queue: 4, queueMs: 60_000 });
    const holder = hold(queue, "x");
    const outcomes = Array.from({ length: 4 }, (_, index) =>
      queue.runInTab("greedy", async () => index).catch(({ code }) => code),
    );
    const modest = [
      queue.runInTab("modest", async () => "served"),
      queue.runInTab("modest", async () => "served"),
    ];
    // Each has two now: nobody has to go for a third.
    await expect(queue.runInTab("modest", async () => "served")).rejects.toMatchObject({
      code: "overloaded",
    });
    holder.free();
    expect(await Promise.all(modest)).toEqual(["served", "served"]);
    expect(await Promise.all(outcomes)).toEqual([0, 1, "overloaded", "overloaded"]);
  });

  it("removes the request of a client that has left, unless it already has a tab", async () => {
    const queue = new TabQueue({ tabs: 2, queue: 2, queueMs: 600_000 });
    const first = hold(queue, "a");
    const leaving = new AbortController();
    const gone = expect(queue.runInTab("a", async () => "loaded", leaving.signal)).rejects.toMatchObject({
      status: 499,
    });
    const next = queue.runInTab("a", async () => "next");
    leaving.abort();
    await gone;
    // Its place in the queue is free.
    const last = queue.runInTab("a", async () => "last");
    first.free();
    expect([await next, await last]).toEqual(["next", "last"]);
    await expect(queue.runInTab("b", async () => "late", leaving.signal)).rejects.toMatchObject({
      status: 499,
    });
    const during = new AbortController();
    const loading = Promise.withResolvers<string>();
    const kept = queue.runInTab("b", () => loading.promise, during.signal);
    during.abort();
    loading.resolve("kept");
    expect([await kept, queue.open]).toEqual(["kept", 0]);
  });

  it("halves the share of a client with a harmful page for a minute", async () => {
    const queue = new TabQueue({ tabs: 4, queue: 50, queueMs: 600_000 });
    expect(queue.isPenalized("bad")).toBe(false);
    queue.penalize("bad");
    expect([queue.isPenalized("bad"), queue.isPenalized("good")]).toEqual([true, false]);
    const bad = Array.from({ length: 4 }, () => hold(queue, "bad"));
    expect(queue.open).toBe(1);
    await vi.advanceTimersByTimeAsync(60_001);
    bad[0]?.free();
    await vi.advanceTimersByTimeAsync(1);
    expect(queue.open).toBe(3);
    for (const { free } of bad) free();
    await Promise.all(bad.map(({ done }) => done));
  });

  it("detects other clients: those with a tab, in the queue, or with a tab a moment ago", async () => {
    const queue = new TabQueue({ tabs: 2, queue: 50, queueMs: 600_000 });
    const one = hold(queue, "one");
    expect([queue.hasOtherClients("one"), queue.hasOtherClients("other")]).toEqual([false, true]);
    const other = hold(queue, "other");
    const third = hold(queue, "third");
    other.free();
    await other.done;
    third.free();
    await third.done;
    await vi.advanceTimersByTimeAsync(4_000);
    expect(queue.hasOtherClients("one")).toBe(true);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(queue.hasOtherClients("one")).toBe(false);
    const waiting = ["a", "b"].map((client) => hold(queue, client));
    expect(queue.hasOtherClients("b")).toBe(true);
    for (const { free } of [one, ...waiting]) free();
    await Promise.all([one, ...waiting].map(({ done }) => done));
  });
});

/** Work that goes on until it is let go. */
function hold(queue: TabQueue, client: string): { free: () => void; done: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { free: resolve, done: queue.runInTab(client, () => promise) };
}
