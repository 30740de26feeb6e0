import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Lease } from "../../../../src/core/ports/accounts.ts";
import { startLeaseRenewal } from "../../../../src/gateway/accounts/lease-renewal.ts";
import { HEARTBEAT_MS } from "../../../../src/pool/leases/lease-timing.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("a held lease", () => {
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

  it("is renewed at each interval, also after a failed renewal, until it is released", async () => {
    const { lease, beats } = held(true, new Error("the pool was not heard"));
    const abort = new AbortController();
    const stop = startLeaseRenewal(lease, abort);
    await vi.advanceTimersByTimeAsync(4 * HEARTBEAT_MS + 10);
    expect(beats).toEqual([1, 2, 3, 4].map((beat) => beat * HEARTBEAT_MS));
    stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([beats.length, abort.signal.aborted, vi.getTimerCount()]).toEqual([4, false, 0]);
  });

  it("ends the work if its slot was reclaimed", async () => {
    const { lease } = held(true, false);
    const abort = new AbortController();
    const stop = startLeaseRenewal(lease, abort);
    await vi.advanceTimersByTimeAsync(2 * HEARTBEAT_MS - 1);
    expect(abort.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(abort.signal.reason).toMatchObject({ kind: "timeout" });
    stop();
  });
});
