import { beforeEach, describe, expect, test } from "vitest";
import { failure } from "../../support/failures.ts";
import { configuration, leaseOf, request, result } from "../../support/pool-simulator/fixtures.ts";
import { PoolSimulator } from "../../support/pool-simulator/pool-simulator.ts";

const SLOTS = 10;
const COOLDOWN_MS = 5_000;
const TRIAL_MS = 10_000;
const CONFIGURATION = configuration(["sick", "well"], { perAccount: SLOTS });
const refusal = failure("rate_limited", "slow down");

let simulator: PoolSimulator;

/** How many requests get that account when `count` come at once. */
function burst(count: number): { sick: string[]; well: string[]; waiting: number } {
  const sick: string[] = [];
  const well: string[] = [];
  let waiting = 0;
  for (let n = 0; n < count; n += 1) {
    const outcome = simulator.pool.acquire(request());
    if ("granted" in outcome)
      (outcome.granted.account.id === "sick" ? sick : well).push(outcome.granted.lease);
    else waiting += 1;
  }
  return { sick, well, waiting };
}

/** Both accounts have worked; then `sick` has failed, and cooled down. */
function recovered(): void {
  for (const target of ["sick", "well"]) succeed(simulator.grant({ target }).lease);
  fail(simulator.grant({ target: "sick" }).lease);
  simulator.advance(COOLDOWN_MS);
}

function succeed(lease: string): void {
  simulator.pool.succeeded(lease);
  simulator.pool.release(lease);
}

function fail(lease: string): void {
  simulator.pool.failed(lease, refusal);
  simulator.pool.release(lease);
}

beforeEach(() => {
  simulator = new PoolSimulator();
  simulator.pool.configure(CONFIGURATION);
});

describe("an account that has failed, once it has cooled down", () => {
  test("is tried by one request at a time, while the other one serves the rest", () => {
    recovered();
    const { sick, well, waiting } = burst(15);
    expect({ sick: sick.length, well: well.length, waiting }).toEqual({ sick: 1, well: SLOTS, waiting: 4 });
  });

  test("serves all waiting requests after its first success", () => {
    recovered();
    const { sick } = burst(11);
    const waiting = Array.from({ length: 5 }, () => simulator.queue());
    simulator.pool.succeeded(sick[0] ?? "");
    expect(waiting.map(result)).toEqual(Array(5).fill("sick"));
  });

  test("costs one attempt after each further cooldown if it fails again", () => {
    recovered();
    for (const cooldown of [10_000, 20_000, 40_000]) {
      const { sick, well } = burst(SLOTS + 5);
      expect(sick).toHaveLength(1);
      fail(sick[0] ?? "");
      for (const lease of well) simulator.pool.release(lease);
      for (const lease of simulator.pool.status().leases) expect(lease.account).toBe("well");
      simulator.advance(cooldown);
    }
  });

  test("is tried by another request if the trial has no result for a long time", () => {
    recovered();
    const { sick } = burst(11);
    for (const lease of sick) simulator.pool.renew(lease);
    const [first, second] = [simulator.queue(), simulator.queue()];
    simulator.advance(TRIAL_MS - 1);
    expect([first, second].map(result)).toEqual([null, null]);
    simulator.advance(1);
    expect([first, second].map(result)).toEqual(["sick", null]);
  });

  test("is tried by the next request if the first one had no result", () => {
    recovered();
    const { sick } = burst(11);
    const next = simulator.queue();
    simulator.pool.failed(sick[0] ?? "", failure("unreachable", "the client left", { fault: null }));
    simulator.pool.release(sick[0] ?? "");
    expect(result(next)).toBe("sick");
  });

  test("is also tried while older requests run, whose success does not count", () => {
    for (const target of ["sick", "well"]) succeed(simulator.grant({ target }).lease);
    const old = simulator.grant({ target: "sick" }).lease;
    fail(simulator.grant({ target: "sick" }).lease);
    simulator.advance(COOLDOWN_MS);
    expect(burst(11).sick).toHaveLength(1);
    simulator.pool.succeeded(old);
    expect(burst(5).sick).toHaveLength(0);
  });

  test("does not delay requests that are pinned to it", () => {
    recovered();
    for (let n = 0; n < SLOTS; n += 1) expect(simulator.grant({ target: "sick" }).account.id).toBe("sick");
  });

  test("is used by all if no other account is healthy", () => {
    simulator.pool.configure(configuration(["sick"], { perAccount: SLOTS }));
    fail(simulator.grant().lease);
    simulator.advance(COOLDOWN_MS);
    expect(burst(SLOTS).sick).toHaveLength(SLOTS);
  });

  test("is used by requests that have failed with all healthy ones", () => {
    recovered();
    expect(burst(1 + SLOTS).sick).toHaveLength(1);
    expect(simulator.grant({ exclude: ["well"] }).account.id).toBe("sick");
    simulator.queue({ exclude: ["sick"] });
  });

  test("is used by waiting requests that have failed with all healthy ones", () => {
    simulator.pool.configure(configuration(["sick", "well"], { perAccount: SLOTS, global: SLOTS + 1 }));
    recovered();
    const { sick, well } = burst(1 + SLOTS);
    expect(sick).toHaveLength(1);
    const [other, failedOver] = [simulator.queue(), simulator.queue({ exclude: ["well"] })];
    simulator.pool.configure(configuration(["sick", "well"], { perAccount: SLOTS, global: SLOTS + 2 }));
    expect([other, failedOver].map(result)).toEqual([null, "sick"]);
    simulator.pool.release(well[0] ?? "");
    expect(result(other)).toBe("well");
  });

  test("is not used by requests that can try another healthy one", () => {
    simulator.pool.configure(configuration(["sick", "well", "better"], { perAccount: 1 }));
    for (const target of ["sick", "well", "better"]) succeed(simulator.grant({ target }).lease);
    simulator.pool.configure(configuration(["sick", "well", "better"], { perAccount: 2 }));
    fail(simulator.grant({ target: "sick" }).lease);
    simulator.advance(COOLDOWN_MS);
    for (let n = 0; n < 5; n += 1) simulator.grant();
    simulator.queue({ exclude: ["well"] });
  });

  test("serves waiting requests if the other one fails", () => {
    recovered();
    const { well } = burst(11);
    const waiting = simulator.queue();
    simulator.pool.failed(well[0] ?? "", refusal);
    expect(result(waiting)).toBe("sick");
    succeed(leaseOf(waiting));
  });
});

describe("an account that has never worked", () => {
  test("is tried by three requests at a time until it works", () => {
    succeed(simulator.grant({ target: "well" }).lease);
    const { sick, waiting } = burst(15);
    expect({ sick: sick.length, waiting }).toEqual({ sick: 3, waiting: 2 });
    simulator.pool.succeeded(sick[0] ?? "");
    expect(simulator.pool.status()).toMatchObject({ waiting: 0, in_use: 15 });
  });

  test("is used by all if it is the only one", () => {
    simulator.pool.configure(configuration(["sick"], { perAccount: SLOTS }));
    expect(burst(SLOTS).sick).toHaveLength(SLOTS);
  });
});

describe("a restart", () => {
  test("keeps which accounts work", () => {
    for (const target of ["sick", "well"]) succeed(simulator.grant({ target }).lease);
    simulator.advance(60_000);
    simulator.restart();
    simulator.pool.configure(CONFIGURATION);
    expect(burst(2 * SLOTS).waiting).toBe(0);
  });

  test("keeps which account has failed", () => {
    recovered();
    simulator.advance(60_000);
    simulator.restart();
    simulator.pool.configure(CONFIGURATION);
    expect(burst(15).sick).toHaveLength(1);
  });
});
