import { describe, expect, test } from "vitest";
import type { AcquireRequest } from "../../../src/core/ports/accounts.ts";
import type { PoolAccount } from "../../../src/core/ports/pool-configuration.ts";
import { CLAIM_MS, LEASE_TTL_MS } from "../../../src/pool/leases/lease-timing.ts";
import { failure } from "../../support/failures.ts";
import {
  account,
  configuration,
  LIMITS,
  leaseOf,
  request,
  result,
} from "../../support/pool-simulator/fixtures.ts";
import { PoolSimulator } from "../../support/pool-simulator/pool-simulator.ts";

function simulatorWith(ids: readonly string[], limits = {}): PoolSimulator {
  const simulator = new PoolSimulator();
  simulator.pool.configure(configuration(ids, limits));
  return simulator;
}

const status = (simulator: PoolSimulator) => {
  const { in_use, waiting } = simulator.pool.status();
  return { in_use, waiting };
};

describe("rotation", () => {
  test("takes the least recently used account with a free slot", () => {
    const simulator = simulatorWith(["a", "b", "c"], { perAccount: 2 });
    const order = Array.from({ length: 6 }, () => simulator.grant().account.id);
    expect(order).toEqual(["a", "b", "c", "a", "b", "c"]);
  });

  test("uses all accounts in turn", () => {
    const simulator = simulatorWith(["a", "b", "c"]);
    const order = Array.from({ length: 6 }, () => {
      const { lease, account: leased } = simulator.grant();
      simulator.pool.release(lease);
      return leased.id;
    });
    expect(order).toEqual(["a", "b", "c", "a", "b", "c"]);
  });

  test("gives a pinned request its account", () => {
    const simulator = simulatorWith(["a", "b", "c"]);
    expect(simulator.grant({ target: "c" }).account.id).toBe("c");
  });

  test("never uses an account that a request excludes", () => {
    const simulator = simulatorWith(["a", "b"], { perAccount: 3 });
    for (let i = 0; i < 3; i += 1) expect(simulator.grant({ exclude: ["a"] }).account.id).toBe("b");
    expect(result(simulator.queue({ exclude: ["a"], waitMs: 10 }))).toBeNull();
  });

  test("refuses at once if no other account is left", () => {
    expect(simulatorWith(["a"]).pool.acquire(request({ exclude: ["a"] }))).toEqual({
      refused: "no_accounts",
    });
  });

  test("names the account's proxy in the lease", () => {
    const simulator = new PoolSimulator();
    simulator.pool.configure({ accounts: [account("a", { proxyId: "p1" })], limits: LIMITS });
    expect(simulator.grant().account).toEqual({ id: "a", proxyId: "p1" });
  });
});

describe("refusals", () => {
  test("a target that does not exist", () => {
    expect(simulatorWith(["a"]).pool.acquire(request({ target: "z" }))).toEqual({
      refused: "target_not_found",
    });
  });

  test("no account at all", () => {
    expect(simulatorWith([]).pool.acquire(request())).toEqual({ refused: "no_accounts" });
  });

  test("a full queue", () => {
    const simulator = simulatorWith(["a"], { queue: 2 });
    simulator.grant();
    simulator.queue();
    simulator.queue();
    expect(simulator.pool.acquire(request())).toEqual({ refused: "queue_full" });
  });

  test("no wait wanted", () => {
    const simulator = simulatorWith(["a"]);
    simulator.grant();
    expect(simulator.pool.acquire(request({ waitMs: 0 }))).toEqual({ refused: "queue_timeout" });
    expect(status(simulator)).toEqual({ in_use: 1, waiting: 0 });
  });

  test("the target of a waiting request is deleted", () => {
    const simulator = simulatorWith(["a", "b"]);
    simulator.grant({ target: "a" });
    const waiter = simulator.queue({ target: "a" });
    simulator.pool.configure(configuration(["b"]));
    expect(result(waiter)).toBe("target_not_found");
  });
});

describe("the waiting queue", () => {
  test("gives a slot to the next request if its waiter is cancelled in the same tick (P1)", () => {
    const simulator = simulatorWith(["a"], { queue: 5 });
    const { lease } = simulator.grant();
    const first = simulator.queue();
    const second = simulator.queue();
    simulator.pool.release(lease);
    expect(result(first)).toBe("a");
    first.cancel();
    expect(result(second)).toBe("a");
    expect(status(simulator)).toEqual({ in_use: 1, waiting: 0 });
  });

  test("keeps a slot available if its waiter was cancelled just before", () => {
    const simulator = simulatorWith(["a"], { queue: 5 });
    const { lease } = simulator.grant();
    const first = simulator.queue();
    const second = simulator.queue();
    first.cancel();
    simulator.pool.release(lease);
    expect([result(first), result(second)]).toEqual(["cancelled", "a"]);
  });

  test("does not block requests behind one that is pinned to a busy account (P2)", () => {
    const simulator = simulatorWith(["a", "b"]);
    const onA = simulator.grant({ target: "a" });
    simulator.grant({ target: "b" });
    const pinned = simulator.queue({ target: "b" });
    const anyone = simulator.queue();
    simulator.pool.release(onA.lease);
    expect([result(pinned), result(anyone)]).toEqual([null, "a"]);
  });

  test("keeps the order of arrival under constant load (P3)", () => {
    const simulator = simulatorWith(["a", "b"], { queue: 1000 });
    const held = [simulator.grant().lease, simulator.grant().lease];
    const waiting = Array.from({ length: 10 }, (_, i) => simulator.queue({ requestId: `w${i}` }));
    const served: number[] = [];
    for (let turn = 0; turn < 200; turn += 1) {
      waiting.push(simulator.queue({ requestId: `late${turn}` }));
      const lease = held.shift();
      if (lease !== undefined) simulator.pool.release(lease);
      const index = waiting.findIndex((waiter, i) => waiter.outcome !== null && !served.includes(i));
      served.push(index);
      const next = waiting[index];
      if (next !== undefined) held.push(leaseOf(next));
    }
    expect(served).toEqual(Array.from({ length: 200 }, (_, i) => i));
  });

  test("never exceeds a changed limit, and counts late releases correctly (P4)", () => {
    const simulator = simulatorWith(["a"], { perAccount: 3, queue: 10 });
    const held = [simulator.grant(), simulator.grant(), simulator.grant()].map((grant) => grant.lease);
    simulator.pool.configure(configuration(["a"], { perAccount: 1, queue: 10 }));
    const waiter = simulator.queue();
    simulator.pool.release(held[0] ?? "");
    simulator.pool.release(held[1] ?? "");
    expect([result(waiter), simulator.pool.status().in_use]).toEqual([null, 1]);
    simulator.pool.configure(configuration(["b"], { perAccount: 1, global: 2, queue: 10 }));
    expect(result(waiter)).toBe("b");
    simulator.pool.release(held[2] ?? "");
    simulator.pool.release(held[2] ?? "");
    simulator.pool.release(held[0] ?? "");
    expect(simulator.pool.status().in_use).toBe(1);
    simulator.pool.release(leaseOf(waiter));
    expect(simulator.pool.status().in_use).toBe(0);
  });

  test("keeps the slots of an account that is removed and added again occupied", () => {
    const simulator = simulatorWith(["a"]);
    const { lease } = simulator.grant();
    simulator.pool.configure(configuration([]));
    simulator.pool.configure(configuration(["a"]));
    const waiter = simulator.queue();
    expect(simulator.pool.status().available).toBe(0);
    simulator.pool.release(lease);
    expect(result(waiter)).toBe("a");
  });

  test("has a maximum wait (P5)", async () => {
    const simulator = simulatorWith(["a"], { queueWaitMs: 60_000 });
    simulator.grant();
    const waiter = simulator.queue();
    // The holder is alive all the while.
    const [{ request_id } = { request_id: "" }] = simulator.pool.status().leases;
    expect(request_id).toBe("r");
    for (let passed = 0; passed < 59_000; passed += 1_000) {
      simulator.advance(1_000);
      expect(simulator.pool.renew("1.1")).toBe(true);
    }
    simulator.advance(999);
    expect(result(waiter)).toBeNull();
    simulator.advance(1);
    expect(result(waiter)).toBe("queue_timeout");
    expect(status(simulator)).toEqual({ in_use: 1, waiting: 0 });
    expect(await waiter.settled).toEqual({ refused: "queue_timeout" });
  });

  test("leaves no timer after a request", () => {
    const simulator = simulatorWith(["a", "b"], { queue: 5 });
    const { lease } = simulator.grant();
    simulator.grant();
    const { timers } = simulator;
    const served = simulator.queue();
    simulator.queue().cancel();
    expect(simulator.timers).toBeGreaterThan(timers);
    simulator.pool.release(lease);
    expect(result(served)).toBe("a");
    expect(simulator.timers).toBe(timers);
  });

  test("serves waiting requests in order after a raised limit", () => {
    const simulator = simulatorWith(["a"], { queue: 5 });
    simulator.grant();
    const waiting = [simulator.queue(), simulator.queue(), simulator.queue()];
    simulator.pool.configure(configuration(["a"], { perAccount: 3, queue: 5 }));
    expect(waiting.map(result)).toEqual(["a", "a", null]);
  });

  test("applies the global limit, although accounts are free", () => {
    const simulator = simulatorWith(["a", "b", "c"], { global: 2 });
    simulator.grant();
    const { lease } = simulator.grant();
    const pinned = simulator.queue({ target: "c" });
    expect(simulator.pool.status().available_accounts).toEqual(["c"]);
    simulator.pool.release(lease);
    expect(result(pinned)).toBe("c");
  });
});

describe("one of several pools", () => {
  test.each([
    ["removed", [account("b")]],
    ["disabled", [account("a", { disabled: true }), account("b")]],
  ])("sends requests that wait for a healthy account elsewhere if the last one is %s", (_, left) => {
    const simulator = simulatorWith(["a", "b"]);
    const layout = { generation: 1, shards: ["main", "shard-1"], earlier: [], former: [] };
    const partOf = (order: number) => ({ shard: { name: "shard-1", order, layout } });
    simulator.pool.configure({ accounts: [account("a"), account("b")], limits: LIMITS, ...partOf(1) });
    simulator.grant({ target: "a" });
    const { lease } = simulator.grant({ target: "b" });
    simulator.pool.failed(lease, failure("account_suspended", "suspended"));
    const waiting = simulator.queue({ healthyOnly: true });
    const anyAccount = simulator.queue();
    simulator.pool.configure({ accounts: left, limits: LIMITS, ...partOf(2) });
    expect(waiting.outcome).toEqual({ refused: "no_accounts", hasHealthyAccount: false });
    expect(anyAccount.outcome).toBeNull();
  });
});

describe("expiry", () => {
  test("an unrenewed lease is reclaimed, and the next waiting request gets its slot", () => {
    const simulator = simulatorWith(["a"]);
    const { lease } = simulator.grant();
    const waiter = simulator.queue();
    simulator.advance(LEASE_TTL_MS - 1);
    expect(result(waiter)).toBeNull();
    simulator.advance(1);
    expect(result(waiter)).toBe("a");
    expect(simulator.pool.renew(lease)).toBe(false);
    expect(simulator.pool.release(lease)).toBe(false);
    expect(simulator.pool.status().in_use).toBe(1);
  });
});

describe("a proxy", () => {
  const dead = failure("unreachable", "the proxy cannot be reached", { fault: "proxy" });
  const bound = { proxyId: "p" };
  const behind = (settings: string) => ({
    accounts: [account("a", bound), account("b", bound), account("c")],
    proxies: [{ id: "p", settings }],
    limits: LIMITS,
  });
  const rigWithProxy = (): PoolSimulator => {
    const simulator = new PoolSimulator();
    simulator.pool.configure(behind("one"));
    return simulator;
  };
  const fail = (simulator: PoolSimulator): void => {
    const { lease } = simulator.grant({ target: "a" });
    simulator.pool.failed(lease, dead);
    simulator.pool.release(lease);
  };

  test("that fails is avoided with all its accounts, and blames none of them", () => {
    const simulator = rigWithProxy();
    fail(simulator);
    expect(simulator.pool.status().cooldowns).toMatchObject([
      { account: "a", proxy: "p", failures: 1, until: simulator.now + 5_000 },
      { account: "b", proxy: "p", failures: 1 },
    ]);
    expect(simulator.grant().account.id).toBe("c");
    const waiter = simulator.queue();
    simulator.advance(5_000);
    expect(result(waiter)).not.toBeNull();
    expect(simulator.pool.status().cooldowns).toEqual([]);
  });

  test("cools down for longer with each failure, until one of its accounts works", () => {
    const simulator = rigWithProxy();
    fail(simulator);
    fail(simulator);
    expect(simulator.pool.status().cooldowns).toMatchObject([
      { failures: 2, until: simulator.now + 10_000 },
      {},
    ]);
    const { lease, failing } = simulator.grant({ target: "b" });
    expect(failing).toBe(true);
    simulator.pool.succeeded(lease);
    expect(simulator.pool.status().cooldowns).toEqual([]);
  });

  test("of which all accounts fail at once has failed once", () => {
    const simulator = rigWithProxy();
    const leases = ["a", "b"].map((target) => simulator.grant({ target }).lease);
    for (const lease of leases) simulator.pool.failed(lease, dead);
    expect(simulator.pool.status().cooldowns).toMatchObject([{ failures: 1 }, { failures: 1 }]);
  });

  test("is tried again after a change, as is an account that leaves it", () => {
    const simulator = rigWithProxy();
    fail(simulator);
    simulator.pool.configure({
      ...behind("one"),
      accounts: [account("a", bound), account("b"), account("c")],
    });
    expect(simulator.pool.status().cooldowns.map((it) => it.account)).toEqual(["a"]);
    simulator.pool.configure(behind("two"));
    expect(simulator.pool.status().cooldowns).toEqual([]);
  });
});

describe("a pinned account", () => {
  test("is found by all its names, in any case", () => {
    const simulator = new PoolSimulator();
    const named = account("Ada@example.org", { email: "Ada@example.org", mobile: "+49151" });
    simulator.pool.configure({ accounts: [named, account("token:AB", { email: "" })], limits: LIMITS });
    for (const target of ["ada@EXAMPLE.org", "+49151", "TOKEN:ab"]) {
      const { lease, account: granted } = simulator.grant({ target });
      expect(granted.id).toBe(target.startsWith("TOKEN") ? "token:AB" : "Ada@example.org");
      simulator.pool.release(lease);
    }
    expect(simulator.pool.acquire(request({ target: "+491" }))).toEqual({ refused: "target_not_found" });
  });

  test("is the one with the exact spelling if two names differ only in case", () => {
    const simulator = simulatorWith(["A@x", "a@x"]);
    expect(
      [simulator.grant({ target: "a@x" }), simulator.grant({ target: "A@x" })].map((it) => it.account.id),
    ).toEqual(["a@x", "A@x"]);
  });
});

describe("cooldown", () => {
  const cool = (simulator: PoolSimulator, id: string): void => {
    const { lease } = simulator.grant({ target: id });
    simulator.pool.failed(lease, failure("rate_limited", "too many requests"));
    simulator.pool.release(lease);
  };

  test("excludes the account if another one is available", () => {
    const simulator = simulatorWith(["a", "b"], { queue: 9 });
    cool(simulator, "a");
    for (let i = 0; i < 5; i += 1) {
      const { lease, account: leased } = simulator.grant();
      expect(leased.id).toBe("b");
      simulator.pool.release(lease);
    }
    simulator.grant();
    const waiter = simulator.queue();
    simulator.advance(4_999);
    expect(result(waiter)).toBeNull();
    simulator.advance(1);
    expect(result(waiter)).toBe("a");
  });

  test("does not cause an endless 429 with a single account", () => {
    const simulator = simulatorWith(["a"]);
    for (let i = 0; i < 8; i += 1) cool(simulator, "a");
    expect(simulator.grant().account.id).toBe("a");
  });

  test("uses the account with the shortest rest if all cool down", () => {
    const simulator = simulatorWith(["a", "b", "c"]);
    cool(simulator, "c");
    simulator.advance(100);
    cool(simulator, "a");
    simulator.advance(100);
    cool(simulator, "b");
    expect([simulator.grant(), simulator.grant(), simulator.grant()].map((it) => it.account.id)).toEqual([
      "c",
      "a",
      "b",
    ]);
  });

  test("serves waiting requests with a cooling account if the last healthy one fails", () => {
    const simulator = simulatorWith(["a", "b"]);
    cool(simulator, "a");
    const { lease } = simulator.grant();
    const waiter = simulator.queue();
    simulator.pool.failed(lease, failure("account_suspended", "suspended"));
    expect(result(waiter)).toBe("a");
  });

  test("does not affect a pinned request", () => {
    const simulator = simulatorWith(["a", "b"]);
    cool(simulator, "a");
    expect(simulator.grant({ target: "a" }).account.id).toBe("a");
  });

  test("lasts twice as long after each failure, and a success ends the series", () => {
    const simulator = simulatorWith(["a", "b"]);
    const left = (): number => (simulator.pool.status().cooldowns[0]?.until ?? simulator.now) - simulator.now;
    cool(simulator, "a");
    const first = left();
    cool(simulator, "a");
    expect([first, left()]).toEqual([5_000, 10_000]);
    const { lease, failing } = simulator.grant({ target: "a" });
    expect(failing).toBe(true);
    simulator.pool.succeeded(lease);
    expect(simulator.pool.status().cooldowns).toEqual([]);
    cool(simulator, "b");
    expect(left()).toBe(5_000);
  });

  test("starts once for a burst of simultaneous failures", () => {
    const simulator = simulatorWith(["a"], { perAccount: 10 });
    const leases = Array.from({ length: 10 }, () => simulator.grant().lease);
    for (const lease of leases) simulator.pool.failed(lease, failure("rate_limited", "too many requests"));
    expect(simulator.pool.status().cooldowns[0]?.failures).toBe(1);
  });

  test("is not ended by the success of an older request", () => {
    const simulator = simulatorWith(["a"], { perAccount: 2 });
    const [early, late] = [simulator.grant().lease, simulator.grant().lease];
    simulator.pool.failed(late, failure("account_suspended", "suspended"));
    simulator.pool.succeeded(early);
    expect(simulator.pool.status().cooldowns).toHaveLength(1);
  });

  test.each(["server_error", "cut", "timeout", "invalid_request", "unreachable"] as const)(
    "does not start after %s",
    (kind) => {
      const simulator = simulatorWith(["a"]);
      simulator.pool.failed(simulator.grant().lease, failure(kind, "x"));
      expect(simulator.pool.status().cooldowns).toEqual([]);
    },
  );

  test("survives a restart, and ends when the account's password is changed", () => {
    const simulator = simulatorWith(["a", "b"]);
    cool(simulator, "a");
    simulator.restart().configure(configuration(["a", "b"]));
    expect(simulator.pool.status().cooldowns).toMatchObject([
      { account: "a", kind: "rate_limited", failures: 1 },
    ]);
    simulator.pool.configure({ accounts: [account("a", { password: "new" }), account("b")], limits: LIMITS });
    expect(simulator.pool.status().cooldowns).toEqual([]);
  });
});

describe("the state of an account", () => {
  const TOKEN = { email: "", password: "", token: "the-old-token" };
  const configure = (simulator: PoolSimulator, more: Partial<PoolAccount>) =>
    simulator.pool.configure({
      accounts: [account("a", { ...TOKEN, ...more }), account("b")],
      limits: LIMITS,
    });
  const failed = (): PoolSimulator => {
    const simulator = simulatorWith([]);
    configure(simulator, {});
    const { lease } = simulator.grant({ target: "a" });
    simulator.pool.failed(lease, failure("token_expired", "refused"));
    simulator.pool.release(lease);
    return simulator;
  };

  test("survives a restart that comes with the same token", () => {
    const simulator = failed();
    simulator.restart();
    configure(simulator, {});
    expect(simulator.pool.status().cooldowns).toMatchObject([{ account: "a" }]);
  });

  test.each([
    ["token", { token: "a-new-token" }],
    ["provider", { provider: "other" }],
  ])("does not survive a restart that comes with another %s", (_, more) => {
    const simulator = failed();
    simulator.restart();
    configure(simulator, more);
    expect(simulator.pool.status().cooldowns).toEqual([]);
    // Three requests may try what has never been used, one what has failed.
    simulator.pool.configure({
      accounts: [account("a", { ...TOKEN, ...more }), account("b", more)],
      limits: { ...LIMITS, perAccount: 5 },
    });
    const provider = "provider" in more ? { provider: more.provider } : {};
    const granted = Array.from({ length: 6 }, () => simulator.grant(provider).account.id);
    expect(granted.filter((id) => id === "a")).toHaveLength(3);
  });
});

describe("restart", () => {
  const HOLDER = { requestId: "r", model: "m", dialect: "chat", caller: "x" };

  test("grants no held slot twice", () => {
    const simulator = simulatorWith(["a", "b"]);
    const a = simulator.grant();
    simulator.restart().configure(configuration(["a", "b"]));
    expect(simulator.pool.status()).toMatchObject({
      in_use: 1,
      in_use_accounts: ["a"],
      available_accounts: ["b"],
    });
    simulator.grant();
    const waiter = simulator.queue();
    simulator.advance(CLAIM_MS - 1);
    expect(result(waiter)).toBeNull();
    const name = simulator.pool.resumeLease(a.lease, "a", HOLDER) ?? "";
    expect(simulator.pool.status().leases).toContainEqual({
      account: "a",
      age_ms: 0,
      model: "m",
      request_id: "r",
      key: "",
      dialect: "chat",
    });
    simulator.advance(LEASE_TTL_MS - CLAIM_MS);
    expect(result(waiter)).toBeNull();
    simulator.pool.release(name);
    expect(result(waiter)).toBe("a");
  });

  test("blocks the slot of a silent holder only for the claim period", () => {
    const simulator = simulatorWith(["a"]);
    const { lease } = simulator.grant();
    simulator.restart().configure(configuration(["a"]));
    const waiter = simulator.queue();
    simulator.advance(CLAIM_MS - 1);
    expect(result(waiter)).toBeNull();
    simulator.advance(1);
    expect(result(waiter)).toBe("a");
    expect(simulator.pool.resumeLease(lease, "a", HOLDER)).toBeNull();
  });

  describe("with an isolate that holds long leases", () => {
    const restarted = () => {
      const simulator = simulatorWith(["a", "b"]);
      const leases = [simulator.grant().lease, simulator.grant().lease];
      expect(simulator.pool.beat("isolate", leases)).toEqual({ start: 1, lost: [] });
      simulator.restart().configure(configuration(["a", "b"]));
      return { simulator, leases, waiter: simulator.queue() };
    };

    test("ignores a heartbeat that was sent before the restart", () => {
      const { simulator, waiter } = restarted();
      simulator.pool.beat("isolate", [], 1);
      simulator.advance(CLAIM_MS);
      expect(result(waiter)).toBeNull();
      simulator.pool.beat("isolate", [], 2);
      expect(result(waiter)).toBe("a");
    });

    test("reserves the slots of a silent one until its leases have ended", () => {
      const { simulator, waiter } = restarted();
      simulator.advance(LEASE_TTL_MS - 1);
      expect(result(waiter)).toBeNull();
      simulator.advance(1);
      expect(result(waiter)).not.toBeNull();
      expect(simulator.store.isolates.size).toBe(0);
    });

    test("frees all but the resumed slots after the claim period", () => {
      const { simulator, leases, waiter } = restarted();
      const [first = "", second = ""] = leases;
      expect(simulator.pool.beat("isolate", leases)).toEqual({ start: 2, lost: [] });
      const name = simulator.pool.resumeLease(first, "a", HOLDER, "isolate") ?? "";
      expect(simulator.pool.beat("isolate", [name, second])).toEqual({ start: 2, lost: [] });
      simulator.advance(CLAIM_MS);
      expect(result(waiter), "one lease was not taken over yet").toBeNull();
      expect(simulator.pool.beat("isolate", [name])).toEqual({ start: 2, lost: [] });
      expect(result(waiter)).toBe("b");
      expect(simulator.pool.beat("isolate", [name, "2.99"])).toEqual({ start: 2, lost: ["2.99"] });
      simulator.pool.release(name);
      expect(simulator.store.isolates.size).toBe(0);
    });

    test("frees everything at once if the isolate was in the ended process", () => {
      const simulator = new PoolSimulator({ boot: "one" });
      simulator.pool.configure(configuration(["a"]));
      simulator.pool.beat("isolate", [simulator.grant().lease]);
      simulator.restart().configure(configuration(["a"]));
      expect(simulator.pool.status().in_use, "the same process").toBe(1);
      simulator.restart({ boot: "two" }).configure(configuration(["a"]));
      expect(simulator.pool.status()).toMatchObject({ in_use: 0, available: 1 });
      expect(simulator.store.isolates.size).toBe(0);
    });
  });

  test("waits after an update until leases of the earlier version have ended", () => {
    const simulator = simulatorWith(["a"]);
    const { lease } = simulator.grant();
    simulator.store.terms = null;
    simulator.restart().configure(configuration(["a"]));
    const waiter = simulator.queue();
    simulator.advance(10_000);
    simulator.restart().configure(configuration(["a"]));
    const again = simulator.queue();
    simulator.advance(29_999);
    expect([result(waiter), result(again)]).toEqual([null, null]);
    simulator.advance(1);
    expect(result(again)).toBe("a");
    expect(simulator.pool.resumeLease(lease, "a", HOLDER)).toBeNull();
    simulator.restart().configure(configuration(["a"]));
    const last = simulator.queue();
    simulator.advance(CLAIM_MS);
    expect(result(last)).toBe("a");
  });

  test("does not let a reclaimed lease resume another one's slot", () => {
    const simulator = simulatorWith(["a"]);
    const stale = simulator.grant().lease;
    simulator.advance(LEASE_TTL_MS);
    const live = simulator.grant().lease;
    simulator.restart().configure(configuration(["a"]));
    expect(simulator.pool.resumeLease(stale, "a", HOLDER)).toBeNull();
    expect(simulator.pool.resumeLease(live, "a", HOLDER)).not.toBeNull();
    expect(simulator.pool.resumeLease(live, "a", HOLDER)).toBeNull();
    expect(simulator.pool.status().in_use).toBe(1);
  });

  test("resumes a lease only once", () => {
    const simulator = simulatorWith(["a"], { perAccount: 2 });
    const { lease } = simulator.grant();
    simulator.grant();
    simulator.restart().configure(configuration(["a"], { perAccount: 2 }));
    simulator.pool.release(simulator.pool.resumeLease(lease, "a", HOLDER) ?? "");
    expect(simulator.pool.resumeLease(lease, "a", HOLDER)).toBeNull();
    expect(simulator.pool.status().in_use).toBe(1);
  });

  test("frees every slot at once if the pool was idle", () => {
    const simulator = simulatorWith(["a"]);
    simulator.pool.release(simulator.grant().lease);
    simulator.advance(1_000);
    simulator.restart().configure(configuration(["a"]));
    expect(simulator.pool.status()).toMatchObject({ in_use: 0, available: 1 });
  });

  test("writes only the accounts' health under steady load, once in ten seconds", () => {
    const simulator = simulatorWith(["a", "b"], { perAccount: 2 });
    const leases = Array.from({ length: 4 }, () => simulator.grant().lease);
    const { writes } = simulator.store;
    for (let i = 0; i < 10_000; i += 1) {
      simulator.pool.release(leases.shift() ?? "");
      leases.push(simulator.grant().lease);
      for (const lease of leases) simulator.pool.renew(lease);
      simulator.advance(20);
    }
    expect(simulator.store.writes).toBe(writes);
    expect(simulator.store.healthWrites).toBeLessThanOrEqual(200 / 10);
  });

  test("lowers an unneeded mark while other accounts are busy", () => {
    const simulator = simulatorWith(["a", "b"], { perAccount: 2 });
    const busy = simulator.grant({ target: "b" }).lease;
    for (const lease of [simulator.grant({ target: "a" }).lease, simulator.grant({ target: "a" }).lease])
      simulator.pool.release(lease);
    expect(simulator.store.marks).toEqual(new Map(Object.entries({ a: 2, b: 1 })));
    for (let i = 0; i < 12; i += 1) {
      simulator.advance(10_000);
      simulator.pool.renew(busy);
    }
    expect(simulator.store.marks).toEqual(new Map(Object.entries({ b: 1 })));
  });
});

describe("shares of callers", () => {
  const of = (caller: string, more: Partial<AcquireRequest> = {}) => ({ caller, ...more });

  test("give the next slots to other callers after one fills all slots and the queue", () => {
    const simulator = simulatorWith(["a", "b"], { perAccount: 2, queue: 10 });
    const leases = Array.from({ length: 4 }, () => simulator.grant(of("greedy")).lease);
    const greedy = Array.from({ length: 4 }, () => simulator.queue(of("greedy")));
    const modest = [
      simulator.queue(of("modest")),
      simulator.queue(of("modest")),
      simulator.queue(of("modest")),
    ];
    for (const lease of leases.slice(0, 2)) simulator.pool.release(lease);
    expect(modest.map((it) => it.outcome !== null)).toEqual([true, true, false]);
    expect(greedy.every((it) => it.outcome === null)).toBe(true);
    // Both hold two of four now: they take turns, each in its order of arrival.
    for (const waiter of modest.slice(0, 1)) simulator.pool.release(leaseOf(waiter));
    expect(modest[2]?.outcome).not.toBeNull();
    simulator.pool.release(leases[2] ?? "");
    expect(greedy.map((it) => it.outcome !== null)).toEqual([true, false, false, false]);
  });

  test("let callers with equal numbers take turns, each in its own order of arrival", () => {
    const simulator = simulatorWith(["a"], { queue: 20 });
    let lease = simulator.grant(of("x")).lease;
    const waiting = ["x", "x", "x", "y", "y", "z"].map((caller, n) => ({
      name: caller + n,
      it: simulator.queue(of(caller)),
    }));
    const order: string[] = [];
    while (order.length < waiting.length) {
      simulator.pool.release(lease);
      const served = waiting.filter(({ name, it }) => it.outcome !== null && !order.includes(name));
      expect(served).toHaveLength(1);
      for (const { name, it } of served) {
        order.push(name);
        lease = leaseOf(it);
      }
    }
    expect(order).toEqual(["y3", "z5", "x0", "y4", "x1", "x2"]);
  });

  test("do not leave a slot idle that only a greedy caller can use", () => {
    const simulator = simulatorWith(["a", "b"]);
    simulator.grant(of("greedy", { target: "a" }));
    const b = simulator.grant(of("greedy", { target: "b" }));
    simulator.queue(of("modest", { target: "a" }));
    const waiter = simulator.queue(of("greedy"));
    simulator.pool.release(b.lease);
    expect(result(waiter)).toBe("b");
  });

  test("remove the newest request of the largest caller from a full queue", () => {
    const simulator = simulatorWith(["a"], { queue: 4 });
    simulator.grant(of("greedy"));
    const greedy = Array.from({ length: 4 }, () => simulator.queue(of("greedy")));
    simulator.queue(of("modest"));
    simulator.queue(of("modest"));
    expect(greedy.map(result)).toEqual([null, null, "queue_full", "queue_full"]);
    expect(simulator.pool.acquire(request(of("modest")))).toEqual({ refused: "queue_full" });
    expect(simulator.pool.acquire(request(of("greedy")))).toEqual({ refused: "queue_full" });
    expect(simulator.pool.status()).toMatchObject({ waiting: 4, max_queue_size: 4 });
  });

  test("remove no request for one that does not wait", () => {
    const simulator = simulatorWith(["a"], { queue: 2 });
    simulator.grant(of("greedy"));
    const greedy = [simulator.queue(of("greedy")), simulator.queue(of("greedy"))];
    expect(simulator.pool.acquire(request(of("modest", { waitMs: 0 })))).toEqual({
      refused: "queue_timeout",
    });
    expect(greedy.map(result)).toEqual([null, null]);
  });

  test("survive a restart", () => {
    const simulator = simulatorWith(["a", "b"]);
    const leases = [simulator.grant(of("greedy")), simulator.grant(of("greedy"))];
    simulator.restart().configure(configuration(["a", "b"]));
    const [first, second] = leases.map(({ lease, account: { id } }) =>
      simulator.pool.resumeLease(lease, id, { requestId: "r", model: "m", dialect: "", caller: "greedy" }),
    );
    expect(second).not.toBeNull();
    const greedy = simulator.queue(of("greedy"));
    const modest = simulator.queue(of("modest"));
    simulator.pool.release(first ?? "");
    expect([result(greedy), result(modest)]).toEqual([null, "a"]);
  });
});

describe("queue status (docs/contract/accounts.md)", () => {
  test("has every field, with the effective values of 0 limits", () => {
    const simulator = simulatorWith(["a", "b"], { perAccount: 1 });
    simulator.grant({ requestId: "one", model: "flash", dialect: "chat" });
    simulator.grant({ target: "b" });
    simulator.queue({ requestId: "two", target: "b" });
    simulator.advance(250);
    expect(simulator.pool.status()).toEqual({
      available: 0,
      in_use: 2,
      total: 2,
      available_accounts: [],
      in_use_accounts: ["a", "b"],
      max_inflight_per_account: 1,
      global_max_inflight: 2,
      recommended_concurrency: 2,
      waiting: 1,
      max_queue_size: 2,
      leases: [
        { account: "a", age_ms: 250, model: "flash", request_id: "one", key: "", dialect: "chat" },
        { account: "b", age_ms: 250, model: "m", request_id: "r", key: "", dialect: "" },
      ],
      cooling: 0,
      conditions: { ok: 0, untested: 2, failing: 0, cooling: 0, disabled: 0 },
      failing: [],
      cooldowns: [],
      outages: [],
      ready: 0,
      waiting_requests: [{ request_id: "two", model: "m", target: "b", waiting_ms: 250 }],
    });
  });
});
