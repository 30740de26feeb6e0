import { describe, expect, it, vi } from "vitest";
import { InFlightWork } from "../../../../src/runtime/deno/in-flight-work.ts";

describe("the drain of work in flight", () => {
  it("waits for work, and for further work that it starts", async () => {
    const inFlight = new InFlightWork();
    const first = Promise.withResolvers<void>();
    const second = Promise.withResolvers<void>();
    inFlight.add(first.promise.then(() => inFlight.add(second.promise)));
    const ended = vi.fn();
    const drained = inFlight.drain(60_000).then(ended);
    expect(inFlight.isClosing).toBe(true);
    first.resolve();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(ended).not.toHaveBeenCalled();
    second.resolve();
    await drained;
    expect(ended).toHaveBeenCalledWith(true);
  });

  it("accepts work that fails", async () => {
    const inFlight = new InFlightWork();
    inFlight.add(Promise.reject(new Error("the client left")));
    expect(await inFlight.drain(60_000)).toBe(true);
  });

  it("ends requests early after its maximum time, and waits until they have told it", async () => {
    const inFlight = new InFlightWork();
    const early = Promise.withResolvers<void>();
    inFlight.add(early.promise);
    inFlight.beforeEnd(() => early.resolve(), early.promise);
    const ended = Promise.resolve();
    const endAgain = vi.fn();
    inFlight.add(ended);
    inFlight.beforeEnd(endAgain, ended);
    expect(await inFlight.drain(20)).toBe(false);
    await expect(early.promise).resolves.toBeUndefined();
    expect(endAgain).not.toHaveBeenCalled();
  });

  it("ends some seconds later although a request does not", async () => {
    vi.useFakeTimers();
    try {
      const inFlight = new InFlightWork();
      inFlight.add(new Promise(() => undefined));
      const drained = inFlight.drain(20);
      await vi.advanceTimersByTimeAsync(5_000);
      expect(await drained).toBe(false);
    } finally {
      vi.useRealTimers();
    }
  });
});
