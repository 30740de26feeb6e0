import { describe, expect, test } from "vitest";
import type { ProviderErrorKind } from "../../../../src/core/errors/provider-error.ts";
import { ProviderBreaker } from "../../../../src/pool/health/provider-breaker.ts";
import { Waiter } from "../../../../src/pool/queue/waiter.ts";
import { randomFrom } from "../../../campaigns/gateway-under-test.ts";
import { failure } from "../../../support/failures.ts";
import { configuration, leaseOf, result } from "../../../support/pool-simulator/fixtures.ts";
import { PoolSimulator } from "../../../support/pool-simulator/pool-simulator.ts";

const IDS = ["a", "b", "c", "d"];

/** A pool whose provider fails. */
class Outage {
  readonly simulator = new PoolSimulator();
  #requests = 0;

  constructor(limits = {}) {
    this.simulator.pool.configure(configuration(IDS, limits));
  }

  /** A request with each account, which goes well. */
  work(): void {
    for (const requestId of IDS) {
      const { lease } = this.simulator.grant({ requestId });
      this.simulator.pool.succeeded(lease);
      this.simulator.pool.release(lease);
    }
  }

  /** One request's attempts, each of which fails. */
  fail(attempts: number, kind: ProviderErrorKind = "server_error", model = "m"): void {
    this.#requests += 1;
    const requestId = `failing-${this.#requests}`;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const { lease } = this.simulator.grant({ requestId, model });
      this.simulator.pool.failed(lease, failure(kind));
      this.simulator.pool.release(lease);
    }
  }

  ask(requestId: string, more = {}) {
    const outcome = this.simulator.pool.acquire({ requestId, model: "m", ...more });
    return "refused" in outcome ? outcome : "granted" in outcome ? outcome.granted : outcome;
  }
}

/** A request that waits. */
function waits(asked: ReturnType<Outage["ask"]>): Waiter {
  if (!(asked instanceof Waiter)) throw new Error("the request does not wait");
  return asked;
}

const granted = (waiter: Waiter): boolean => waiter.outcome !== null && "granted" in waiter.outcome;

const down = { refused: "provider_down", failure: { kind: "server_error" } };

describe("a provider that fails on three accounts in a row", () => {
  test("is not down because of one request, which may itself be the reason", () => {
    const outage = new Outage();
    outage.fail(3);
    expect(outage.simulator.pool.status().outages).toEqual([]);
    outage.fail(1);
    expect(outage.simulator.pool.status().outages).toMatchObject([{ model: "m", kind: "server_error" }]);
    expect(outage.simulator.pool.status().cooldowns).toEqual([]);
  });

  test("is tried by one request at a time, while others wait a second for its result", () => {
    const outage = new Outage();
    outage.fail(3);
    outage.fail(1);
    const trial = outage.ask("trial");
    expect(trial).toHaveProperty("lease");
    const other = waits(outage.ask("other"));
    outage.simulator.advance(999);
    expect(other.outcome).toBeNull();
    expect(outage.simulator.pool.status()).toMatchObject({
      waiting: 1,
      waiting_requests: [{ request_id: "other" }],
    });
    outage.simulator.advance(1);
    expect(other.outcome).toMatchObject(down);
    if ("lease" in trial) outage.simulator.pool.release(trial.lease);
    expect(outage.ask("next")).toHaveProperty("lease");
  });

  test("is tried by another request if the first one has no answer for 10 s", () => {
    const outage = new Outage();
    outage.fail(3);
    outage.fail(1);
    outage.ask("trial");
    outage.simulator.advance(9_999);
    const other = waits(outage.ask("other"));
    outage.simulator.advance(1);
    expect(outage.ask("next")).toHaveProperty("lease");
    waits(outage.ask("another"));
    expect(other.outcome).toBeNull();
  });

  describe("lets requests that wait for the trial", () => {
    const begun = (limits = {}) => {
      const outage = new Outage(limits);
      outage.fail(3);
      outage.fail(1);
      const trial = outage.ask("trial");
      if (!("lease" in trial)) throw new Error("nobody tries");
      return { outage, simulator: outage.simulator, trial: trial.lease };
    };

    test("continue in their order if it works again, also those that have failed with an account", () => {
      const { outage, simulator, trial } = begun();
      const asking = ["first", "second", "third", "fourth"].map((name) => waits(outage.ask(name)));
      const again = waits(outage.ask("again", { exclude: ["a"] }));
      simulator.advance(500);
      simulator.pool.succeeded(trial);
      // The trial has one of the four slots.
      expect([...asking, again].map(granted)).toEqual([true, true, true, false, false]);
      simulator.pool.release(trial);
      expect([...asking, again].map(granted)).toEqual([true, true, true, true, false]);
      simulator.advance(5_000);
      expect(again.outcome, "its own time in the queue begins").toBeNull();
      for (const waiter of asking) simulator.pool.release(leaseOf(waiter));
      expect(granted(again)).toBe(true);
      simulator.pool.release(leaseOf(again));
      expect(simulator.pool.status()).toMatchObject({ in_use: 0, waiting: 0, outages: [] });
    });

    test("fail at once if the trial fails", () => {
      const { outage, simulator, trial } = begun();
      const waiting = [waits(outage.ask("one")), waits(outage.ask("two"))];
      simulator.pool.failed(trial, failure("server_error"));
      expect(waiting.map(({ outcome }) => outcome)).toMatchObject([down, down]);
      simulator.pool.release(trial);
      expect(outage.ask("next")).toHaveProperty("lease");
    });

    test("make the trial, one of them, if its client has left", () => {
      const { outage, simulator, trial } = begun();
      const again = waits(outage.ask("again", { exclude: ["a"] }));
      const waiting = [waits(outage.ask("one")), waits(outage.ask("two"))];
      simulator.pool.release(trial);
      expect([again, ...waiting].map(granted)).toEqual([false, true, false]);
      simulator.pool.succeeded(leaseOf(waiting[0] ?? again));
      expect([again, ...waiting].map(granted)).toEqual([true, true, true]);
    });

    test("leave without a trace", () => {
      const { outage, simulator, trial } = begun();
      const before = simulator.timers;
      const waiter = waits(outage.ask("one"));
      waiter.cancel();
      waiter.cancel();
      expect(simulator.pool.status().waiting).toBe(0);
      expect(simulator.timers).toBe(before);
      simulator.pool.succeeded(trial);
      simulator.pool.release(trial);
      expect(simulator.pool.status()).toMatchObject({ in_use: 0, waiting: 0 });
    });

    test("be limited to the free slots and the places in the queue", () => {
      const { outage } = begun({ queue: 2 });
      for (const name of ["one", "two", "three", "four", "five"]) waits(outage.ask(name));
      expect(outage.ask("six")).toMatchObject(down);
    });

    test("fail when the last account is deleted", () => {
      const { outage, simulator } = begun();
      const waiter = waits(outage.ask("one"));
      simulator.pool.configure(configuration([]));
      expect(result(waiter)).toBe("no_accounts");
      expect(simulator.pool.status().waiting).toBe(0);
    });
  });

  test("is healthy again after the first success", () => {
    const outage = new Outage();
    outage.work();
    outage.fail(3);
    outage.fail(1);
    const trial = outage.ask("trial");
    expect(trial).toMatchObject({ failing: true });
    if ("lease" in trial) outage.simulator.pool.succeeded(trial.lease);
    expect(outage.simulator.pool.status().outages).toEqual([]);
    expect([outage.ask("x"), outage.ask("y")]).toMatchObject([{ failing: false }, { failing: false }]);
  });

  test("is not tried by a request that has failed there already", () => {
    const outage = new Outage();
    outage.fail(3);
    outage.fail(1);
    expect(outage.ask("again", { exclude: ["a"] })).toMatchObject(down);
    expect(outage.ask("trial")).toHaveProperty("lease");
  });

  test("does not affect requests that are pinned to an account", () => {
    const outage = new Outage();
    outage.fail(3);
    outage.fail(1);
    outage.ask("trial");
    expect(outage.ask("pinned", { target: "b" })).toHaveProperty("lease");
  });

  test("is tried by one waiting request, while others wait for its result, except for pinned ones", () => {
    const outage = new Outage({ queue: 8 });
    const { simulator } = outage;
    outage.fail(3);
    const leases = IDS.map((target, place) => simulator.grant({ target, requestId: `r${place}` }).lease);
    const again = simulator.queue({ requestId: "w0", exclude: ["a"] });
    const trial = simulator.queue({ requestId: "w1" });
    const waiting = simulator.queue({ requestId: "w2" });
    const other = simulator.queue({ requestId: "w3", model: "another" });
    const pinned = simulator.queue({ requestId: "w4", target: "d" });
    simulator.pool.failed(leases[3] ?? "", failure("server_error"));
    simulator.advance(1_000);
    expect([again.outcome, waiting.outcome]).toMatchObject([down, down]);
    expect([trial, other, pinned].map(result)).toEqual([null, null, null]);
    simulator.pool.release(leases[0] ?? "");
    expect(granted(trial)).toBe(true);
  });

  test("fails waiting requests at once if none of them can make the trial", () => {
    const outage = new Outage();
    const { simulator } = outage;
    outage.fail(3);
    const leases = IDS.map((target, place) => simulator.grant({ target, requestId: `r${place}` }).lease);
    const again = simulator.queue({ requestId: "w0", exclude: ["a"] });
    simulator.pool.failed(leases[3] ?? "", failure("server_error"));
    expect(again.outcome).toMatchObject(down);
  });

  test("is down for all models if it is unreachable, otherwise for one model", () => {
    const outage = new Outage();
    outage.fail(3);
    outage.fail(1);
    outage.ask("trial");
    expect(outage.ask("other", { model: "another" })).toHaveProperty("lease");
    const dead = new Outage();
    dead.fail(3, "unreachable");
    dead.fail(1, "unreachable");
    dead.ask("trial");
    waits(dead.ask("other", { model: "another" }));
  });

  test("is not down with successes in between", () => {
    const outage = new Outage();
    for (let round = 0; round < 5; round += 1) {
      outage.fail(2);
      const { lease, failing } = outage.simulator.grant({ requestId: `ok-${round}` });
      expect(failing).toBe(true);
      outage.simulator.pool.succeeded(lease);
      outage.simulator.pool.release(lease);
    }
    expect(outage.simulator.pool.status().outages).toEqual([]);
  });

  test("counts one failure for a burst of simultaneous requests", () => {
    const { simulator } = new Outage({ perAccount: 2 });
    const leases = Array.from({ length: 8 }, (_, place) => simulator.grant({ requestId: `r${place}` }).lease);
    for (const lease of leases) simulator.pool.failed(lease, failure("server_error"));
    expect(simulator.pool.status().outages).toEqual([]);
  });
});

describe("for any events while the provider goes down and recovers", () => {
  const seeds = Array.from({ length: Number(process.env["SEEDS"] ?? 8) }, (_, index) => index + 1);

  test.each(seeds)("limits hold, no request is lost, and the counts are correct (seed %i)", (seed) => {
    const dice = randomFrom(seed);
    const below = (count: number) => Math.floor(dice() * count);
    const simulator = new PoolSimulator();
    let perAccount = 2;
    let limits = { perAccount, queue: 6, queueWaitMs: 5_000 };
    simulator.pool.configure(configuration(IDS, limits));
    const waiting = new Map<Waiter, number>();
    let leases: string[] = [];
    let waits = 0;
    let serial = 0;
    const take = <T>(items: readonly T[]): T | undefined => items[below(items.length)];
    for (let step = 0; step < 1_500; step += 1) {
      const what = dice();
      const lease = take(leases) ?? "";
      if (what < 0.35) {
        serial += 1;
        const exclude = below(5) === 0 ? { exclude: [take(IDS) ?? ""] } : {};
        const target = below(8) === 0 ? { target: take(IDS) ?? "" } : {};
        const model = below(3) === 0 ? "another" : "m";
        const caller = `caller-${below(3)}`;
        const outcome = simulator.pool.acquire({
          requestId: `r${serial}`,
          model,
          caller,
          ...exclude,
          ...target,
        });
        if (outcome instanceof Waiter) waiting.set(outcome, simulator.now);
        else if ("granted" in outcome) leases.push(outcome.granted.lease);
      } else if (what < 0.55)
        simulator.pool.failed(lease, failure(below(2) === 0 ? "unreachable" : "server_error"));
      else if (what < 0.62) simulator.pool.succeeded(lease);
      else if (what < 0.8) {
        simulator.pool.release(lease);
        leases = leases.filter((it) => it !== lease);
      } else if (what < 0.85) take([...waiting.keys()])?.cancel();
      else if (what < 0.87) {
        perAccount = 1 + below(3);
        limits = { ...limits, perAccount };
        const ids = below(6) === 0 ? [] : IDS.filter(() => below(4) > 0);
        simulator.pool.configure(configuration(ids, limits));
      } else simulator.advance(below(400));
      for (const [waiter, since] of waiting) {
        const { outcome } = waiter;
        if (outcome === null) expect(simulator.now - since).toBeLessThanOrEqual(limits.queueWaitMs);
        else {
          waiting.delete(waiter);
          waits += 1;
          if ("granted" in outcome) leases.push(outcome.granted.lease);
        }
      }
      leases = leases.filter((it) => simulator.pool.renew(it));
      const status = simulator.pool.status();
      expect(status.waiting).toBe(waiting.size);
      expect(status.in_use).toBe(leases.length);
    }
    for (const waiter of waiting.keys()) waiter.cancel();
    for (const lease of leases) simulator.pool.release(lease);
    simulator.advance(1_000);
    expect(simulator.pool.status()).toMatchObject({
      in_use: 0,
      waiting: 0,
      leases: [],
      waiting_requests: [],
    });
    expect(simulator.timers).toBe(0);
    expect(waits).toBeGreaterThan(20);
  });
});

describe("an account on which the provider fails again and again, while it works with others", () => {
  test("cools down", () => {
    const { simulator } = new Outage();
    for (let round = 0; round < 3; round += 1) {
      expect(simulator.pool.status().cooldowns).toEqual([]);
      const sick = simulator.grant({ requestId: `sick-${round}`, target: "a" });
      simulator.pool.failed(sick.lease, failure("timeout"));
      simulator.pool.release(sick.lease);
      const well = simulator.grant({ requestId: `well-${round}`, target: "b" });
      simulator.pool.succeeded(well.lease);
      simulator.pool.release(well.lease);
    }
    expect(simulator.pool.status().cooldowns).toMatchObject([{ account: "a", kind: "timeout", failures: 1 }]);
  });
});

describe("simultaneous requests with the same id", () => {
  const SAME = "session-1";

  test("count as separate failures", () => {
    const { simulator } = new Outage();
    for (const [at, target] of ["a", "b", "c"].entries()) {
      const { lease } = simulator.grant({ requestId: SAME, identity: `i-${at}`, target });
      simulator.pool.failed(lease, failure("server_error"));
      simulator.pool.release(lease);
    }
    expect(simulator.pool.status().outages).toHaveLength(1);
  });

  test("make trials one at a time", () => {
    const outage = new Outage();
    for (let n = 0; n < 3; n += 1) outage.fail(1);
    outage.simulator.advance(60_000);
    const trial = outage.ask(SAME, { identity: "first" });
    expect(trial).toHaveProperty("lease");
    waits(outage.ask(SAME, { identity: "second" })).cancel();
    expect(granted(waits(outage.ask(SAME, { identity: "third" })))).toBe(false);
  });
});

describe("the memory of failures", () => {
  const failing = (breaker: ProviderBreaker, model: string, now: number, serial: number, account = "a") =>
    breaker.recordFailure(
      { model, serial, account, request: `r${serial}` },
      failure("server_error"),
      serial,
      now,
    );

  test("has at most 200 entries, and keeps those that are outages", () => {
    const breaker = new ProviderBreaker();
    for (const [at, account] of ["a", "b", "c"].entries()) failing(breaker, "m", 0, at + 1, account);
    expect(breaker.isDown("m")).toBe(true);
    for (let n = 10; n < 1_010; n += 1) failing(breaker, `made-up-${n}`, 0, n);
    expect(breaker.size).toBe(200);
    expect(breaker.isDown("m")).toBe(true);
    expect([breaker.tracksModel("made-up-10"), breaker.tracksModel("made-up-1009")]).toEqual([false, true]);
  });

  test("ends ten minutes after the last failure", () => {
    const breaker = new ProviderBreaker();
    failing(breaker, "m", 0, 1, "a");
    failing(breaker, "m", 500_000, 2, "b");
    failing(breaker, "other", 1_099_999, 3);
    expect(breaker.tracksModel("m")).toBe(true);
    expect(failing(breaker, "m", 1_700_000, 4, "c")).toEqual({
      isFirst: true,
      outageStarted: null,
      outageContinues: null,
    });
    expect(breaker.size).toBe(1);
  });
});
