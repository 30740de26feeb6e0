import { describe, expect, test } from "vitest";
import type { ProviderErrorKind } from "../../../src/errors/provider-error.ts";
import { failure } from "../../support/failures.ts";
import { configuration, Rig, result } from "./rig.ts";

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

  test("is tried by one request at a time; the others are told its failure at once", () => {
    const outage = new Outage();
    outage.fail(3);
    outage.fail(1);
    const trial = outage.ask("trial");
    expect(trial).toHaveProperty("lease");
    expect(outage.ask("other")).toMatchObject(down);
    if ("lease" in trial) outage.rig.pool.release(trial.lease);
    expect(outage.ask("next")).toHaveProperty("lease");
  });

  test("is tried by another request when the one that tries gets no answer for 10 s", () => {
    const outage = new Outage();
    outage.fail(3);
    outage.fail(1);
    outage.ask("trial");
    outage.rig.advance(9_999);
    expect(outage.ask("other")).toMatchObject(down);
    outage.rig.advance(1);
    expect(outage.ask("next")).toHaveProperty("lease");
    expect(outage.ask("other")).toMatchObject(down);
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
  });

  test("is no matter to who wants one account", () => {
    const outage = new Outage();
    outage.fail(3);
    outage.fail(1);
    outage.ask("trial");
    expect(outage.ask("pinned", { target: "b" })).toHaveProperty("lease");
  });

  test("tells those that wait at once, but not who waits for one account", () => {
    const outage = new Outage();
    const { rig } = outage;
    outage.fail(3);
    const leases = IDS.map((target, place) => rig.grant({ target, requestId: `r${place}` }).lease);
    const waiting = rig.queue({ requestId: "w1" });
    const other = rig.queue({ requestId: "w2", model: "another" });
    const pinned = rig.queue({ requestId: "w3", target: "d" });
    rig.pool.failed(leases[3] ?? "", failure("server_error"));
    expect(waiting.outcome).toMatchObject(down);
    expect([result(other), result(pinned)]).toEqual([null, null]);
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
    expect(dead.ask("other", { model: "another" })).toMatchObject({ refused: "provider_down" });
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
