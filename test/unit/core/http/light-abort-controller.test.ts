import { describe, expect, it, vi } from "vitest";
import { clientDisconnected } from "../../../../src/core/http/client-disconnect.ts";
import { LightAbortController } from "../../../../src/core/http/light-abort-controller.ts";

const REASON = clientDisconnected();

describe("what ends a request's work", () => {
  it("tells each listener once, and those that came too late or were removed never", () => {
    const ending = new LightAbortController();
    const told: string[] = [];
    const removed = () => told.push("removed");
    ending.addEventListener("abort", () => told.push("first"));
    ending.addEventListener("abort", removed);
    ending.addEventListener("abort", () => told.push("second"));
    ending.removeEventListener("abort", removed);
    ending.throwIfAborted();
    ending.abort(REASON);
    ending.abort(new Error("once more"));
    ending.addEventListener("abort", () => told.push("late"));
    expect(told).toEqual(["first", "second"]);
    expect([ending.aborted, ending.reason]).toEqual([true, REASON]);
    expect(() => ending.throwIfAborted()).toThrow(REASON);
  });

  it("does not tell a listener that another one has removed meanwhile", () => {
    const ending = new LightAbortController();
    const told: string[] = [];
    const second = () => told.push("second");
    ending.addEventListener("abort", () => ending.removeEventListener("abort", second));
    ending.addEventListener("abort", second);
    ending.abort(REASON);
    expect(told).toEqual([]);
  });

  it("tells the others of a listener that throws, and the runtime of its error", async () => {
    const ending = new LightAbortController();
    const told: string[] = [];
    const tasks: (() => void)[] = [];
    vi.spyOn(globalThis, "queueMicrotask").mockImplementation((task) => tasks.push(task));
    ending.addEventListener("abort", () => {
      throw new Error("of no use");
    });
    ending.addEventListener("abort", () => told.push("second"));
    ending.abort(REASON);
    vi.restoreAllMocks();
    expect(told).toEqual(["second"]);
    expect(() => tasks[0]?.()).toThrow("of no use");
  });

  it("has a native signal for those who need one, before and behind its end", () => {
    const before = new LightAbortController();
    const { signal } = before;
    expect([signal.aborted, before.signal === signal]).toEqual([false, true]);
    before.abort(REASON);
    const behind = new LightAbortController();
    behind.abort(REASON);
    for (const native of [signal, behind.signal])
      expect([native.aborted, native.reason]).toEqual([true, REASON]);
  });
});
