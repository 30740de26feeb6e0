import { describe, expect, test } from "vitest";
import type { ProviderErrorKind } from "../../../src/core/errors/provider-error.ts";
import { ProviderBreaker } from "../../../src/pool/provider-breaker.ts";
import { Waiter } from "../../../src/pool/waiter.ts";
import { randomFrom } from "../../campaigns/site.ts";
import { failure } from "../../support/failures.ts";
import { configuration, leaseOf, Rig, result } from "./rig.ts";

const IDS = ["a", "b", "c", "d"];

/** A pool whose provider fails. */
class Outage {
  readonly rig = new Rig();
  #requests = 0;

  constructor(limits = {}) {
    this.rig.pool.configure(configuration(IDS, limits));
  }

  /** A request with each account, which goes well. */
  work(): void {
    for (const requestId of IDS) {
      const { lease } = this.rig.grant({ requestId });
      this.rig.pool.succeeded(lease);
      this.rig.pool.release(lease);
    }
  }

  /** One request's attempts, each of which fails. */
  fail(attempts: number, kind: ProviderErrorKind = "server_error", model = "m"): void {
    this.#requests += 1;
    const requestId = `failing-${this.#requests}`;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const { lease } = this.rig.grant({ requestId, model });
      this.rig.pool.failed(lease, failure(kind));
      this.rig.pool.release(lease);
    }
  }

  ask(requestId: string, more = {}) {
    const outcome = this.rig.pool.acquire({ requestId, model: "m", ...more });
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
  test("is not down by the word of one request alone: it may be that which it cannot take", () => {
    const outage = new Outage();
    outage.fail(3);
    expect(outage.rig.pool.status().outages).toEqual([]);
    outage.fail(1);
    expect(outage.rig.pool.status().outages).toMatchObject([{ model: "m", kind: "server_error" }]);
    expect(outage.rig.pool.status().cooldowns).toEqual([]);
  });

  test("is tried by one request at a time; the others wait a second for what comes of it, and are told its failure", () => {
    const outage = new Outage();
    outage.fail(3);
    outage.fail(1);
    const trial = outage.ask("trial");
    expect(trial).toHaveProperty("lease");
    const other = waits(outage.ask("other"));
    outage.rig.advance(999);
    expect(other.outcome).toBeNull();
    expect(outage.rig.pool.status()).toMatchObject({
      waiting: 1,
      waiting_requests: [{ request_id: "other" }],
    });
    outage.rig.advance(1);
    expect(other.outcome).toMatchObject(down);
    if ("lease" in trial) outage.rig.pool.release(trial.lease);
    expect(outage.ask("next")).toHaveProperty("lease");
  });

  test("is tried by another request when the one that tries gets no answer for 10 s", () => {
    const outage = new Outage();
    outage.fail(3);
    outage.fail(1);
    outage.ask("trial");
    outage.rig.advance(9_999);
    const other = waits(outage.ask("other"));
    outage.rig.advance(1);
    expect(outage.ask("next")).toHaveProperty("lease");
    waits(outage.ask("another"));
    expect(other.outcome).toBeNull();
  });

  describe("lets those who wait for what comes of the trial", () => {
    const begun = (limits = {}) => {
      const outage = new Outage(limits);
      outage.fail(3);
      outage.fail(1);
      const trial = outage.ask("trial");
      if (!("lease" in trial)) throw new Error("nobody tries");
      return { outage, rig: outage.rig, trial: trial.lease };
    };

    test("go on in their order when it works again, those too that have failed with an account", () => {
      const { outage, rig, trial } = begun();
      const asking = ["first", "second", "third", "fourth"].map((name) => waits(outage.ask(name)));
      const again = waits(outage.ask("again", { exclude: ["a"] }));
      rig.advance(500);
      rig.pool.succeeded(trial);
      // The trial has one of the four slots.
      expect([...asking, again].map(granted)).toEqual([true, true, true, false, false]);
      rig.pool.release(trial);
      expect([...asking, again].map(granted)).toEqual([true, true, true, true, false]);
      rig.advance(5_000);
      expect(again.outcome, "its own time in the queue begins").toBeNull();
      for (const waiter of asking) rig.pool.release(leaseOf(waiter));
      expect(granted(again)).toBe(true);
      rig.pool.release(leaseOf(again));
      expect(rig.pool.status()).toMatchObject({ in_use: 0, waiting: 0, outages: [] });
    });

    test("know at once when it has failed", () => {
      const { outage, rig, trial } = begun();
      const waiting = [waits(outage.ask("one")), waits(outage.ask("two"))];
      rig.pool.failed(trial, failure("server_error"));
      expect(waiting.map(({ outcome }) => outcome)).toMatchObject([down, down]);
      rig.pool.release(trial);
      expect(outage.ask("next")).toHaveProperty("lease");
    });

    test("try themselves, one of them, when its client has left", () => {
      const { outage, rig, trial } = begun();
      const again = waits(outage.ask("again", { exclude: ["a"] }));
      const waiting = [waits(outage.ask("one")), waits(outage.ask("two"))];
      rig.pool.release(trial);
      expect([again, ...waiting].map(granted)).toEqual([false, true, false]);
      rig.pool.succeeded(leaseOf(waiting[0] ?? again));
      expect([again, ...waiting].map(granted)).toEqual([true, true, true]);
    });

    test("leave, and are forgotten", () => {
      const { outage, rig, trial } = begun();
      const before = rig.timers;
      const waiter = waits(outage.ask("one"));
      waiter.cancel();
      waiter.cancel();
      expect(rig.pool.status().waiting).toBe(0);
      expect(rig.timers).toBe(before);
      rig.pool.succeeded(trial);
      rig.pool.release(trial);
      expect(rig.pool.status()).toMatchObject({ in_use: 0, waiting: 0 });
    });

    test("be no more than there are free slots, and places in the queue", () => {
      const { outage } = begun({ queue: 2 });
      for (const name of ["one", "two", "three", "four", "five"]) waits(outage.ask(name));
      expect(outage.ask("six")).toMatchObject(down);
    });

    test("go when the last account is deleted", () => {
      const { outage, rig } = begun();
      const waiter = waits(outage.ask("one"));
      rig.pool.configure(configuration([]));
      expect(result(waiter)).toBe("no_accounts");
      expect(rig.pool.status().waiting).toBe(0);
    });
  });

  test("is up again with the first success", () => {
    const outage = new Outage();
    outage.work();
    outage.fail(3);
    outage.fail(1);
    const trial = outage.ask("trial");
    expect(trial).toMatchObject({ failing: true });
    if ("lease" in trial) outage.rig.pool.succeeded(trial.lease);
    expect(outage.rig.pool.status().outages).toEqual([]);
    expect([outage.ask("x"), outage.ask("y")]).toMatchObject([{ failing: false }, { failing: false }]);
  });

  test("is not tried by a request that it has failed already", () => {
    const outage = new Outage();
    outage.fail(3);
    outage.fail(1);
    expect(outage.ask("again", { exclude: ["a"] })).toMatchObject(down);
    expect(outage.ask("trial")).toHaveProperty("lease");
  });

  test("is no matter to who wants one account", () => {
    const outage = new Outage();
    outage.fail(3);
    outage.fail(1);
    outage.ask("trial");
    expect(outage.ask("pinned", { target: "b" })).toHaveProperty("lease");
  });

  test("is tried by one of those that wait; the others wait for what comes of that, but not who wants one account", () => {
    const outage = new Outage({ queue: 8 });
    const { rig } = outage;
    outage.fail(3);
    const leases = IDS.map((target, place) => rig.grant({ target, requestId: `r${place}` }).lease);
    const again = rig.queue({ requestId: "w0", exclude: ["a"] });
    const trial = rig.queue({ requestId: "w1" });
    const waiting = rig.queue({ requestId: "w2" });
    const other = rig.queue({ requestId: "w3", model: "another" });
    const pinned = rig.queue({ requestId: "w4", target: "d" });
    rig.pool.failed(leases[3] ?? "", failure("server_error"));
    rig.advance(1_000);
    expect([again.outcome, waiting.outcome]).toMatchObject([down, down]);
    expect([trial, other, pinned].map(result)).toEqual([null, null, null]);
    rig.pool.release(leases[0] ?? "");
    expect(granted(trial)).toBe(true);
  });

  test("tells those that wait at once when none of them can try", () => {
    const outage = new Outage();
    const { rig } = outage;
    outage.fail(3);
    const leases = IDS.map((target, place) => rig.grant({ target, requestId: `r${place}` }).lease);
    const again = rig.queue({ requestId: "w0", exclude: ["a"] });
    rig.pool.failed(leases[3] ?? "", failure("server_error"));
    expect(again.outcome).toMatchObject(down);
  });

  test("is down for all models when it cannot be reached, otherwise for that model", () => {
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

  test("with successes in between is not down", () => {
    const outage = new Outage();
    for (let round = 0; round < 5; round += 1) {
      outage.fail(2);
      const { lease, failing } = outage.rig.grant({ requestId: `ok-${round}` });
      expect(failing).toBe(true);
      outage.rig.pool.succeeded(lease);
      outage.rig.pool.release(lease);
    }
    expect(outage.rig.pool.status().outages).toEqual([]);
  });

  test("in one burst has failed once: they were all granted before", () => {
    const { rig } = new Outage({ perAccount: 2 });
    const leases = Array.from({ length: 8 }, (_, place) => rig.grant({ requestId: `r${place}` }).lease);
    for (const lease of leases) rig.pool.failed(lease, failure("server_error"));
    expect(rig.pool.status().outages).toEqual([]);
  });
});

describe("whatever happens while the provider goes down and comes back", () => {
  const seeds = Array.from({ length: Number(process.env["SEEDS"] ?? 8) }, (_, index) => index + 1);

  test.each(seeds)("limits hold, nobody is forgotten, and the books balance (seed %i)", (seed) => {
    const dice = randomFrom(seed);
    const below = (count: number) => Math.floor(dice() * count);
    const rig = new Rig();
    let perAccount = 2;
    let limits = { perAccount, queue: 6, queueWaitMs: 5_000 };
    rig.pool.configure(configuration(IDS, limits));
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
        const outcome = rig.pool.acquire({ requestId: `r${serial}`, model, caller, ...exclude, ...target });
        if (outcome instanceof Waiter) waiting.set(outcome, rig.now);
        else if ("granted" in outcome) leases.push(outcome.granted.lease);
      } else if (what < 0.55)
        rig.pool.failed(lease, failure(below(2) === 0 ? "unreachable" : "server_error"));
      else if (what < 0.62) rig.pool.succeeded(lease);
      else if (what < 0.8) {
        rig.pool.release(lease);
        leases = leases.filter((it) => it !== lease);
      } else if (what < 0.85) take([...waiting.keys()])?.cancel();
      else if (what < 0.87) {
        perAccount = 1 + below(3);
        limits = { ...limits, perAccount };
        const ids = below(6) === 0 ? [] : IDS.filter(() => below(4) > 0);
        rig.pool.configure(configuration(ids, limits));
      } else rig.advance(below(400));
      for (const [waiter, since] of waiting) {
        const { outcome } = waiter;
        if (outcome === null) expect(rig.now - since).toBeLessThanOrEqual(limits.queueWaitMs);
        else {
          waiting.delete(waiter);
          waits += 1;
          if ("granted" in outcome) leases.push(outcome.granted.lease);
        }
      }
      leases = leases.filter((it) => rig.pool.renew(it));
      const status = rig.pool.status();
      expect(status.waiting).toBe(waiting.size);
      expect(status.in_use).toBe(leases.length);
    }
    for (const waiter of waiting.keys()) waiter.cancel();
    for (const lease of leases) rig.pool.release(lease);
    rig.advance(1_000);
    expect(rig.pool.status()).toMatchObject({ in_use: 0, waiting: 0, leases: [], waiting_requests: [] });
    expect(rig.timers).toBe(0);
    expect(waits).toBeGreaterThan(20);
  });
});

describe("an account on which the provider fails again and again, while it works with others", () => {
  test("cools down", () => {
    const { rig } = new Outage();
    for (let round = 0; round < 3; round += 1) {
      expect(rig.pool.status().cooldowns).toEqual([]);
      const sick = rig.grant({ requestId: `sick-${round}`, target: "a" });
      rig.pool.failed(sick.lease, failure("timeout"));
      rig.pool.release(sick.lease);
      const well = rig.grant({ requestId: `well-${round}`, target: "b" });
      rig.pool.succeeded(well.lease);
      rig.pool.release(well.lease);
    }
    expect(rig.pool.status().cooldowns).toMatchObject([{ account: "a", kind: "timeout", failures: 1 }]);
  });
});

describe("requests whose callers call them the same", () => {
  const SAME = "session-1";

  test("are as many words as there are requests", () => {
    const { rig } = new Outage();
    for (const [at, target] of ["a", "b", "c"].entries()) {
      const { lease } = rig.grant({ requestId: SAME, identity: `i-${at}`, target });
      rig.pool.failed(lease, failure("server_error"));
      rig.pool.release(lease);
    }
    expect(rig.pool.status().outages).toHaveLength(1);
  });

  test("try one at a time whether the provider works again", () => {
    const outage = new Outage();
    for (let n = 0; n < 3; n += 1) outage.fail(1);
    outage.rig.advance(60_000);
    const trial = outage.ask(SAME, { identity: "first" });
    expect(trial).toHaveProperty("lease");
    waits(outage.ask(SAME, { identity: "second" })).cancel();
    expect(granted(waits(outage.ask(SAME, { identity: "third" })))).toBe(false);
  });
});

describe("what is remembered of failures", () => {
  const failing = (breaker: ProviderBreaker, model: string, now: number, serial: number, account = "a") =>
    breaker.recordFailure(
      { model, serial, account, request: `r${serial}` },
      failure("server_error"),
      serial,
      now,
    );

  test("is at most 200 series, of which those that are outages stay", () => {
    const breaker = new ProviderBreaker();
    for (const [at, account] of ["a", "b", "c"].entries()) failing(breaker, "m", 0, at + 1, account);
    expect(breaker.isDown("m")).toBe(true);
    for (let n = 10; n < 1_010; n += 1) failing(breaker, `made-up-${n}`, 0, n);
    expect(breaker.size).toBe(200);
    expect(breaker.isDown("m")).toBe(true);
    expect([breaker.tracksModel("made-up-10"), breaker.tracksModel("made-up-1009")]).toEqual([false, true]);
  });

  test("is forgotten ten minutes after the last failure", () => {
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
