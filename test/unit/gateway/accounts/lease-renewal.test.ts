import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LightAbortController } from "../../../../src/core/http/light-abort-controller.ts";
import { RequestTimers } from "../../../../src/core/http/request-timers.ts";
import type { Lease } from "../../../../src/core/ports/accounts.ts";
import { startLeaseRenewal } from "../../../../src/gateway/accounts/lease-renewal.ts";
import { HEARTBEAT_MS } from "../../../../src/pool/lease-timing.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("a lease that is held", () => {
  /** A lease that is renewed with these outcomes; the moments of its beats are kept. */
  function held(...outcomes: (boolean | Error)[]) {
    const beats: number[] = [];
    const since = performance.now();
    const lease: Lease = {
      account: { id: "one@test", provider: "", proxyId: "" },
      initialToken: null,
      renew: async () => {
        beats.push(performance.now() - since);
        const outcome = outcomes.shift() ?? true;
        if (outcome instanceof Error) throw outcome;
        return outcome;
      },
      getToken: () => expect.unreachable(),
      completeSignIn: () => expect.unreachable(),
      failSignIn: () => expect.unreachable(),
      reportSuccess: () => expect.unreachable(),
      reportQuota: () => expect.unreachable(),
      reportFailure: () => expect.unreachable(),
      release: () => expect.unreachable(),
      [Symbol.dispose]: () => expect.unreachable(),
    };
    return { lease, beats };
  }

  it("is renewed at each beat to the millisecond, whatever else its request waits for", async () => {
    const { lease, beats } = held(true, new Error("the pool was not heard"));
    const timers = new RequestTimers();
    const abort = new LightAbortController();
    timers.runAfter(60_000, expect.unreachable)();
    timers.runAfter(30_000, () => undefined);
    await vi.advanceTimersByTimeAsync(130);
    const stop = startLeaseRenewal(lease, timers, abort);
    timers.runAfter(1_111, () => undefined);
    await vi.advanceTimersByTimeAsync(4 * HEARTBEAT_MS + 10);
    expect(beats).toEqual([1, 2, 3, 4].map((beat) => 130 + beat * HEARTBEAT_MS));
    stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([beats.length, abort.aborted, vi.getTimerCount()]).toEqual([4, false, 0]);
  });

  it("has no native timer of its own: what looks at the request's deadlines goes off with its first beat", async () => {
    const set = vi.spyOn(globalThis, "setTimeout");
    const { lease, beats } = held();
    const timers = new RequestTimers();
    timers.runAfter(60_000, () => undefined);
    const stop = startLeaseRenewal(lease, timers, new LightAbortController());
    await vi.advanceTimersByTimeAsync(HEARTBEAT_MS - 1);
    expect([set.mock.calls.length, beats.length]).toEqual([1, 0]);
    await vi.advanceTimersByTimeAsync(1);
    expect([set.mock.calls.length, beats.length]).toEqual([2, 1]);
    stop();
  });

  it("ends the work when its slot was reclaimed", async () => {
    const { lease } = held(true, false);
    const abort = new LightAbortController();
    const stop = startLeaseRenewal(lease, new RequestTimers(), abort);
    await vi.advanceTimersByTimeAsync(2 * HEARTBEAT_MS - 1);
    expect(abort.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(abort.reason).toMatchObject({ kind: "timeout" });
    stop();
  });
});
