import { describe, expect, test } from "vitest";
import type { AcquireRequest } from "../../../src/core/ports/accounts.ts";
import type { PoolAccount } from "../../../src/core/ports/pool-configuration.ts";
import { CLAIM_MS, LEASE_TTL_MS } from "../../../src/pool/lease-timing.ts";
import { failure } from "../../support/failures.ts";
import { account, configuration, LIMITS, leaseOf, Rig, request, result } from "./rig.ts";

function rigWith(ids: readonly string[], limits = {}): Rig {
  const rig = new Rig();
  rig.pool.configure(configuration(ids, limits));
  return rig;
}

const status = (rig: Rig) => {
  const { in_use, waiting } = rig.pool.status();
  return { in_use, waiting };
};

describe("rotation", () => {
  test("takes the least recently used account with a free slot", () => {
    const rig = rigWith(["a", "b", "c"], { perAccount: 2 });
    const order = Array.from({ length: 6 }, () => rig.grant().account.id);
    expect(order).toEqual(["a", "b", "c", "a", "b", "c"]);
  });

  test("one request after another goes round all accounts", () => {
    const rig = rigWith(["a", "b", "c"]);
    const order = Array.from({ length: 6 }, () => {
      const { lease, account: leased } = rig.grant();
      rig.pool.release(lease);
      return leased.id;
    });
    expect(order).toEqual(["a", "b", "c", "a", "b", "c"]);
  });

  test("a pinned request gets its account, whoever's turn it is", () => {
    const rig = rigWith(["a", "b", "c"]);
    expect(rig.grant({ target: "c" }).account.id).toBe("c");
  });

  test("an account switch never comes back to the account that it left", () => {
    const rig = rigWith(["a", "b"], { perAccount: 3 });
    for (let i = 0; i < 3; i += 1) expect(rig.grant({ exclude: ["a"] }).account.id).toBe("b");
    expect(result(rig.queue({ exclude: ["a"], waitMs: 10 }))).toBeNull();
  });

  test("an account switch with nowhere to go is refused at once", () => {
    expect(rigWith(["a"]).pool.acquire(request({ exclude: ["a"] }))).toEqual({ refused: "no_accounts" });
  });

  test("the lease names the account's proxy", () => {
    const rig = new Rig();
    rig.pool.configure({ accounts: [account("a", { proxyId: "p1" })], limits: LIMITS });
    expect(rig.grant().account).toEqual({ id: "a", proxyId: "p1" });
  });
});

describe("refusals", () => {
  test("a target that does not exist", () => {
    expect(rigWith(["a"]).pool.acquire(request({ target: "z" }))).toEqual({ refused: "target_not_found" });
  });

  test("no account at all", () => {
    expect(rigWith([]).pool.acquire(request())).toEqual({ refused: "no_accounts" });
  });

  test("a full queue", () => {
    const rig = rigWith(["a"], { queue: 2 });
    rig.grant();
    rig.queue();
    rig.queue();
    expect(rig.pool.acquire(request())).toEqual({ refused: "queue_full" });
  });

  test("no wait wanted", () => {
    const rig = rigWith(["a"]);
    rig.grant();
    expect(rig.pool.acquire(request({ waitMs: 0 }))).toEqual({ refused: "queue_timeout" });
    expect(status(rig)).toEqual({ in_use: 1, waiting: 0 });
  });

  test("the target of a waiting request is deleted", () => {
    const rig = rigWith(["a", "b"]);
    rig.grant({ target: "a" });
    const waiter = rig.queue({ target: "a" });
    rig.pool.configure(configuration(["b"]));
    expect(result(waiter)).toBe("target_not_found");
  });
});

describe("the waiting queue", () => {
  test("a waiter cancelled in the same tick as a release does not swallow the slot (P1)", () => {
    const rig = rigWith(["a"], { queue: 5 });
    const { lease } = rig.grant();
    const first = rig.queue();
    const second = rig.queue();
    rig.pool.release(lease);
    expect(result(first)).toBe("a");
    first.cancel();
    expect(result(second)).toBe("a");
    expect(status(rig)).toEqual({ in_use: 1, waiting: 0 });
  });

  test("and neither does one cancelled just before", () => {
    const rig = rigWith(["a"], { queue: 5 });
    const { lease } = rig.grant();
    const first = rig.queue();
    const second = rig.queue();
    first.cancel();
    rig.pool.release(lease);
    expect([result(first), result(second)]).toEqual(["cancelled", "a"]);
  });

  test("a waiter pinned to a busy account does not hold up those behind it (P2)", () => {
    const rig = rigWith(["a", "b"]);
    const onA = rig.grant({ target: "a" });
    rig.grant({ target: "b" });
    const pinned = rig.queue({ target: "b" });
    const anyone = rig.queue();
    rig.pool.release(onA.lease);
    expect([result(pinned), result(anyone)]).toEqual([null, "a"]);
  });

  test("nobody overtakes, however many keep arriving (P3)", () => {
    const rig = rigWith(["a", "b"], { queue: 1000 });
    const held = [rig.grant().lease, rig.grant().lease];
    const waiting = Array.from({ length: 10 }, (_, i) => rig.queue({ requestId: `w${i}` }));
    const served: number[] = [];
    for (let turn = 0; turn < 200; turn += 1) {
      waiting.push(rig.queue({ requestId: `late${turn}` }));
      const lease = held.shift();
      if (lease !== undefined) rig.pool.release(lease);
      const index = waiting.findIndex((waiter, i) => waiter.outcome !== null && !served.includes(i));
      served.push(index);
      const next = waiting[index];
      if (next !== undefined) held.push(leaseOf(next));
    }
    expect(served).toEqual(Array.from({ length: 200 }, (_, i) => i));
  });

  test("settings changed with slots in use: never more than the limit, and late releases do not underflow (P4)", () => {
    const rig = rigWith(["a"], { perAccount: 3, queue: 10 });
    const held = [rig.grant(), rig.grant(), rig.grant()].map((grant) => grant.lease);
    rig.pool.configure(configuration(["a"], { perAccount: 1, queue: 10 }));
    const waiter = rig.queue();
    rig.pool.release(held[0] ?? "");
    rig.pool.release(held[1] ?? "");
    expect([result(waiter), rig.pool.status().in_use]).toEqual([null, 1]);
    rig.pool.configure(configuration(["b"], { perAccount: 1, global: 2, queue: 10 }));
    expect(result(waiter)).toBe("b");
    rig.pool.release(held[2] ?? "");
    rig.pool.release(held[2] ?? "");
    rig.pool.release(held[0] ?? "");
    expect(rig.pool.status().in_use).toBe(1);
    rig.pool.release(leaseOf(waiter));
    expect(rig.pool.status().in_use).toBe(0);
  });

  test("an account removed and added again keeps its slots occupied", () => {
    const rig = rigWith(["a"]);
    const { lease } = rig.grant();
    rig.pool.configure(configuration([]));
    rig.pool.configure(configuration(["a"]));
    const waiter = rig.queue();
    expect(rig.pool.status().available).toBe(0);
    rig.pool.release(lease);
    expect(result(waiter)).toBe("a");
  });

  test("the wait is bounded (P5)", async () => {
    const rig = rigWith(["a"], { queueWaitMs: 60_000 });
    rig.grant();
    const waiter = rig.queue();
    // The holder is alive all the while.
    const [{ request_id } = { request_id: "" }] = rig.pool.status().leases;
    expect(request_id).toBe("r");
    for (let passed = 0; passed < 59_000; passed += 1_000) {
      rig.advance(1_000);
      expect(rig.pool.renew("1.1")).toBe(true);
    }
    rig.advance(999);
    expect(result(waiter)).toBeNull();
    rig.advance(1);
    expect(result(waiter)).toBe("queue_timeout");
    expect(status(rig)).toEqual({ in_use: 1, waiting: 0 });
    expect(await waiter.settled).toEqual({ refused: "queue_timeout" });
  });

  test("a request that is served, or leaves, leaves no timer behind", () => {
    const rig = rigWith(["a", "b"], { queue: 5 });
    const { lease } = rig.grant();
    rig.grant();
    const { timers } = rig;
    const served = rig.queue();
    rig.queue().cancel();
    expect(rig.timers).toBeGreaterThan(timers);
    rig.pool.release(lease);
    expect(result(served)).toBe("a");
    expect(rig.timers).toBe(timers);
  });

  test("a raised limit serves those who wait, in order", () => {
    const rig = rigWith(["a"], { queue: 5 });
    rig.grant();
    const waiting = [rig.queue(), rig.queue(), rig.queue()];
    rig.pool.configure(configuration(["a"], { perAccount: 3, queue: 5 }));
    expect(waiting.map(result)).toEqual(["a", "a", null]);
  });

  test("the global limit binds although accounts are free", () => {
    const rig = rigWith(["a", "b", "c"], { global: 2 });
    rig.grant();
    const { lease } = rig.grant();
    const pinned = rig.queue({ target: "c" });
    expect(rig.pool.status().available_accounts).toEqual(["c"]);
    rig.pool.release(lease);
    expect(result(pinned)).toBe("c");
  });
});

describe("one of several pools", () => {
  test.each([
    ["removed", [account("b")]],
    ["disabled", [account("a", { disabled: true }), account("b")]],
  ])("sends those elsewhere that wait for an account that is well, when the last one is %s", (_, left) => {
    const rig = rigWith(["a", "b"]);
    const layout = { generation: 1, shards: ["main", "shard-1"], earlier: [], former: [] };
    const partOf = (order: number) => ({ shard: { name: "shard-1", order, layout } });
    rig.pool.configure({ accounts: [account("a"), account("b")], limits: LIMITS, ...partOf(1) });
    rig.grant({ target: "a" });
    const { lease } = rig.grant({ target: "b" });
    rig.pool.failed(lease, failure("account_suspended", "suspended"));
    const waiting = rig.queue({ wellOnly: true });
    rig.pool.configure({ accounts: left, limits: LIMITS, ...partOf(2) });
    expect(waiting.outcome).toEqual({ refused: "no_accounts", isWell: false });
  });
});

describe("expiry", () => {
  test("a lease that nobody renews is reclaimed, and the next request waiting gets its slot", () => {
    const rig = rigWith(["a"]);
    const { lease } = rig.grant();
    const waiter = rig.queue();
    rig.advance(LEASE_TTL_MS - 1);
    expect(result(waiter)).toBeNull();
    rig.advance(1);
    expect(result(waiter)).toBe("a");
    expect(rig.pool.renew(lease)).toBe(false);
    expect(rig.pool.release(lease)).toBe(false);
    expect(rig.pool.status().in_use).toBe(1);
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
  const rigWithProxy = (): Rig => {
    const rig = new Rig();
    rig.pool.configure(behind("one"));
    return rig;
  };
  const fail = (rig: Rig): void => {
    const { lease } = rig.grant({ target: "a" });
    rig.pool.failed(lease, dead);
    rig.pool.release(lease);
  };

  test("that fails is passed over with all its accounts, and none of them is blamed", () => {
    const rig = rigWithProxy();
    fail(rig);
    expect(rig.pool.status().cooldowns).toMatchObject([
      { account: "a", proxy: "p", failures: 1, until: rig.now + 5_000 },
      { account: "b", proxy: "p", failures: 1 },
    ]);
    expect(rig.grant().account.id).toBe("c");
    const waiter = rig.queue();
    rig.advance(5_000);
    expect(result(waiter)).not.toBeNull();
    expect(rig.pool.status().cooldowns).toEqual([]);
  });

  test("cools down for longer with each failure, until one of its accounts works", () => {
    const rig = rigWithProxy();
    fail(rig);
    fail(rig);
    expect(rig.pool.status().cooldowns).toMatchObject([{ failures: 2, until: rig.now + 10_000 }, {}]);
    const { lease, failing } = rig.grant({ target: "b" });
    expect(failing).toBe(true);
    rig.pool.succeeded(lease);
    expect(rig.pool.status().cooldowns).toEqual([]);
  });

  test("of which all accounts fail at once has failed once", () => {
    const rig = rigWithProxy();
    const leases = ["a", "b"].map((target) => rig.grant({ target }).lease);
    for (const lease of leases) rig.pool.failed(lease, dead);
    expect(rig.pool.status().cooldowns).toMatchObject([{ failures: 1 }, { failures: 1 }]);
  });

  test("that has been changed gets another chance, and so does an account that leaves it", () => {
    const rig = rigWithProxy();
    fail(rig);
    rig.pool.configure({ ...behind("one"), accounts: [account("a", bound), account("b"), account("c")] });
    expect(rig.pool.status().cooldowns.map((it) => it.account)).toEqual(["a"]);
    rig.pool.configure(behind("two"));
    expect(rig.pool.status().cooldowns).toEqual([]);
  });
});

describe("a pinned account", () => {
  test("goes by all its names, in any case", () => {
    const rig = new Rig();
    const named = account("Ada@example.org", { email: "Ada@example.org", mobile: "+49151" });
    rig.pool.configure({ accounts: [named, account("token:AB", { email: "" })], limits: LIMITS });
    for (const target of ["ada@EXAMPLE.org", "+49151", "TOKEN:ab"]) {
      const { lease, account: granted } = rig.grant({ target });
      expect(granted.id).toBe(target.startsWith("TOKEN") ? "token:AB" : "Ada@example.org");
      rig.pool.release(lease);
    }
    expect(rig.pool.acquire(request({ target: "+491" }))).toEqual({ refused: "target_not_found" });
  });

  test("whose name another one has in another case is the exact one", () => {
    const rig = rigWith(["A@x", "a@x"]);
    expect([rig.grant({ target: "a@x" }), rig.grant({ target: "A@x" })].map((it) => it.account.id)).toEqual([
      "a@x",
      "A@x",
    ]);
  });
});

describe("cooldown", () => {
  const cool = (rig: Rig, id: string): void => {
    const { lease } = rig.grant({ target: id });
    rig.pool.failed(lease, failure("rate_limited", "too many requests"));
    rig.pool.release(lease);
  };

  test("with two accounts the one that cools down gets no request until it is over", () => {
    const rig = rigWith(["a", "b"], { queue: 9 });
    cool(rig, "a");
    for (let i = 0; i < 5; i += 1) {
      const { lease, account: leased } = rig.grant();
      expect(leased.id).toBe("b");
      rig.pool.release(lease);
    }
    rig.grant();
    const waiter = rig.queue();
    rig.advance(4_999);
    expect(result(waiter)).toBeNull();
    rig.advance(1);
    expect(result(waiter)).toBe("a");
  });

  test("with one account cooling down never means an endless 429", () => {
    const rig = rigWith(["a"]);
    for (let i = 0; i < 8; i += 1) cool(rig, "a");
    expect(rig.grant().account.id).toBe("a");
  });

  test("with only cooling accounts left, the one with the least left is used", () => {
    const rig = rigWith(["a", "b", "c"]);
    cool(rig, "c");
    rig.advance(100);
    cool(rig, "a");
    rig.advance(100);
    cool(rig, "b");
    expect([rig.grant(), rig.grant(), rig.grant()].map((it) => it.account.id)).toEqual(["c", "a", "b"]);
  });

  test("a request that waits for a healthy account takes a cooling one when the last healthy one fails", () => {
    const rig = rigWith(["a", "b"]);
    cool(rig, "a");
    const { lease } = rig.grant();
    const waiter = rig.queue();
    rig.pool.failed(lease, failure("account_suspended", "suspended"));
    expect(result(waiter)).toBe("a");
  });

  test("a pinned request is served although its account cools down", () => {
    const rig = rigWith(["a", "b"]);
    cool(rig, "a");
    expect(rig.grant({ target: "a" }).account.id).toBe("a");
  });

  test("lasts twice as long after each failure, and a success ends the series", () => {
    const rig = rigWith(["a", "b"]);
    const left = (): number => (rig.pool.status().cooldowns[0]?.until ?? rig.now) - rig.now;
    cool(rig, "a");
    const first = left();
    cool(rig, "a");
    expect([first, left()]).toEqual([5_000, 10_000]);
    const { lease, failing } = rig.grant({ target: "a" });
    expect(failing).toBe(true);
    rig.pool.succeeded(lease);
    expect(rig.pool.status().cooldowns).toEqual([]);
    cool(rig, "b");
    expect(left()).toBe(5_000);
  });

  test("a burst of failures at once counts as one", () => {
    const rig = rigWith(["a"], { perAccount: 10 });
    const leases = Array.from({ length: 10 }, () => rig.grant().lease);
    for (const lease of leases) rig.pool.failed(lease, failure("rate_limited", "too many requests"));
    expect(rig.pool.status().cooldowns[0]?.failures).toBe(1);
  });

  test("a success of a request from before the failure proves nothing", () => {
    const rig = rigWith(["a"], { perAccount: 2 });
    const [early, late] = [rig.grant().lease, rig.grant().lease];
    rig.pool.failed(late, failure("account_suspended", "suspended"));
    rig.pool.succeeded(early);
    expect(rig.pool.status().cooldowns).toHaveLength(1);
  });

  test.each(["server_error", "cut", "timeout", "invalid_request", "unreachable"] as const)(
    "%s is nobody's fault",
    (kind) => {
      const rig = rigWith(["a"]);
      rig.pool.failed(rig.grant().lease, failure(kind, "x"));
      expect(rig.pool.status().cooldowns).toEqual([]);
    },
  );

  test("survives a restart, and ends when the account's password is changed", () => {
    const rig = rigWith(["a", "b"]);
    cool(rig, "a");
    rig.restart().configure(configuration(["a", "b"]));
    expect(rig.pool.status().cooldowns).toMatchObject([{ account: "a", kind: "rate_limited", failures: 1 }]);
    rig.pool.configure({ accounts: [account("a", { password: "new" }), account("b")], limits: LIMITS });
    expect(rig.pool.status().cooldowns).toEqual([]);
  });
});

describe("what is known of an account", () => {
  const TOKEN = { email: "", password: "", token: "the-old-token" };
  const configure = (rig: Rig, more: Partial<PoolAccount>) =>
    rig.pool.configure({ accounts: [account("a", { ...TOKEN, ...more }), account("b")], limits: LIMITS });
  const failed = (): Rig => {
    const rig = rigWith([]);
    configure(rig, {});
    const { lease } = rig.grant({ target: "a" });
    rig.pool.failed(lease, failure("token_expired", "refused"));
    rig.pool.release(lease);
    return rig;
  };

  test("survives a restart that comes with the same token", () => {
    const rig = failed();
    rig.restart();
    configure(rig, {});
    expect(rig.pool.status().cooldowns).toMatchObject([{ account: "a" }]);
  });

  test.each([
    ["token", { token: "a-new-token" }],
    ["provider", { provider: "other" }],
  ])("does not survive a restart that comes with another %s", (_, more) => {
    const rig = failed();
    rig.restart();
    configure(rig, more);
    expect(rig.pool.status().cooldowns).toEqual([]);
    // Three requests may try what has never been used, one what has failed.
    rig.pool.configure({
      accounts: [account("a", { ...TOKEN, ...more }), account("b", more)],
      limits: { ...LIMITS, perAccount: 5 },
    });
    const provider = "provider" in more ? { provider: more.provider } : {};
    const granted = Array.from({ length: 6 }, () => rig.grant(provider).account.id);
    expect(granted.filter((id) => id === "a")).toHaveLength(3);
  });
});

describe("restart", () => {
  const HOLDER = { requestId: "r", model: "m", dialect: "chat", caller: "x" };

  test("with leases held grants none of their slots twice", () => {
    const rig = rigWith(["a", "b"]);
    const a = rig.grant();
    rig.restart().configure(configuration(["a", "b"]));
    expect(rig.pool.status()).toMatchObject({ in_use: 1, in_use_accounts: ["a"], available_accounts: ["b"] });
    rig.grant();
    const waiter = rig.queue();
    rig.advance(CLAIM_MS - 1);
    expect(result(waiter)).toBeNull();
    const name = rig.pool.resumeLease(a.lease, "a", HOLDER) ?? "";
    expect(rig.pool.status().leases).toContainEqual({
      account: "a",
      age_ms: 0,
      model: "m",
      request_id: "r",
      key: "",
      dialect: "chat",
    });
    rig.advance(LEASE_TTL_MS - CLAIM_MS);
    expect(result(waiter)).toBeNull();
    rig.pool.release(name);
    expect(result(waiter)).toBe("a");
  });

  test("a holder that never speaks up again blocks its slot for the claim period alone", () => {
    const rig = rigWith(["a"]);
    const { lease } = rig.grant();
    rig.restart().configure(configuration(["a"]));
    const waiter = rig.queue();
    rig.advance(CLAIM_MS - 1);
    expect(result(waiter)).toBeNull();
    rig.advance(1);
    expect(result(waiter)).toBe("a");
    expect(rig.pool.resumeLease(lease, "a", HOLDER)).toBeNull();
  });

  describe("with an isolate that holds leases for long", () => {
    const restarted = () => {
      const rig = rigWith(["a", "b"]);
      const leases = [rig.grant().lease, rig.grant().lease];
      expect(rig.pool.beat("isolate", leases)).toEqual({ start: 1, lost: [] });
      rig.restart().configure(configuration(["a", "b"]));
      return { rig, leases, waiter: rig.queue() };
    };

    test("and a beat that was sent before the restart says nothing of what it holds", () => {
      const { rig, waiter } = restarted();
      rig.pool.beat("isolate", [], 1);
      rig.advance(CLAIM_MS);
      expect(result(waiter)).toBeNull();
      rig.pool.beat("isolate", [], 2);
      expect(result(waiter)).toBe("a");
    });

    test("and is silent: its slots are held back until none of its leases can be used any more", () => {
      const { rig, waiter } = restarted();
      rig.advance(LEASE_TTL_MS - 1);
      expect(result(waiter)).toBeNull();
      rig.advance(1);
      expect(result(waiter)).not.toBeNull();
      expect(rig.store.isolates.size).toBe(0);
    });

    test("and has taken over what it holds: the rest is free after the claim period", () => {
      const { rig, leases, waiter } = restarted();
      const [first = "", second = ""] = leases;
      expect(rig.pool.beat("isolate", leases)).toEqual({ start: 2, lost: [] });
      const name = rig.pool.resumeLease(first, "a", HOLDER, "isolate") ?? "";
      expect(rig.pool.beat("isolate", [name, second])).toEqual({ start: 2, lost: [] });
      rig.advance(CLAIM_MS);
      expect(result(waiter), "one lease was not taken over yet").toBeNull();
      expect(rig.pool.beat("isolate", [name])).toEqual({ start: 2, lost: [] });
      expect(result(waiter)).toBe("b");
      expect(rig.pool.beat("isolate", [name, "2.99"])).toEqual({ start: 2, lost: ["2.99"] });
      rig.pool.release(name);
      expect(rig.store.isolates.size).toBe(0);
    });

    test("in the process that has ended: everything is free at once", () => {
      const rig = new Rig({ boot: "one" });
      rig.pool.configure(configuration(["a"]));
      rig.pool.beat("isolate", [rig.grant().lease]);
      rig.restart().configure(configuration(["a"]));
      expect(rig.pool.status().in_use, "the same process").toBe(1);
      rig.restart({ boot: "two" }).configure(configuration(["a"]));
      expect(rig.pool.status()).toMatchObject({ in_use: 0, available: 1 });
      expect(rig.store.isolates.size).toBe(0);
    });
  });

  test("after an update of the program waits as long as the leases of the earlier version may last", () => {
    const rig = rigWith(["a"]);
    const { lease } = rig.grant();
    rig.store.terms = null;
    rig.restart().configure(configuration(["a"]));
    const waiter = rig.queue();
    rig.advance(10_000);
    rig.restart().configure(configuration(["a"]));
    const again = rig.queue();
    rig.advance(29_999);
    expect([result(waiter), result(again)]).toEqual([null, null]);
    rig.advance(1);
    expect(result(again)).toBe("a");
    expect(rig.pool.resumeLease(lease, "a", HOLDER)).toBeNull();
    rig.restart().configure(configuration(["a"]));
    const last = rig.queue();
    rig.advance(CLAIM_MS);
    expect(result(last)).toBe("a");
  });

  test("a lease reclaimed before the restart cannot take over somebody else's slot", () => {
    const rig = rigWith(["a"]);
    const stale = rig.grant().lease;
    rig.advance(LEASE_TTL_MS);
    const live = rig.grant().lease;
    rig.restart().configure(configuration(["a"]));
    expect(rig.pool.resumeLease(stale, "a", HOLDER)).toBeNull();
    expect(rig.pool.resumeLease(live, "a", HOLDER)).not.toBeNull();
    expect(rig.pool.resumeLease(live, "a", HOLDER)).toBeNull();
    expect(rig.pool.status().in_use).toBe(1);
  });

  test("a name that was taken over once does not take over the account's other slot", () => {
    const rig = rigWith(["a"], { perAccount: 2 });
    const { lease } = rig.grant();
    rig.grant();
    rig.restart().configure(configuration(["a"], { perAccount: 2 }));
    rig.pool.release(rig.pool.resumeLease(lease, "a", HOLDER) ?? "");
    expect(rig.pool.resumeLease(lease, "a", HOLDER)).toBeNull();
    expect(rig.pool.status().in_use).toBe(1);
  });

  test("after a restart while idle every slot is free at once", () => {
    const rig = rigWith(["a"]);
    rig.pool.release(rig.grant().lease);
    rig.advance(1_000);
    rig.restart().configure(configuration(["a"]));
    expect(rig.pool.status()).toMatchObject({ in_use: 0, available: 1 });
  });

  test("steady load writes nothing but the accounts' health, once in ten seconds", () => {
    const rig = rigWith(["a", "b"], { perAccount: 2 });
    const leases = Array.from({ length: 4 }, () => rig.grant().lease);
    const { writes } = rig.store;
    for (let i = 0; i < 10_000; i += 1) {
      rig.pool.release(leases.shift() ?? "");
      leases.push(rig.grant().lease);
      for (const lease of leases) rig.pool.renew(lease);
      rig.advance(20);
    }
    expect(rig.store.writes).toBe(writes);
    expect(rig.store.healthWrites).toBeLessThanOrEqual(200 / 10);
  });

  test("a mark that is no longer needed is lowered while other accounts are busy", () => {
    const rig = rigWith(["a", "b"], { perAccount: 2 });
    const busy = rig.grant({ target: "b" }).lease;
    for (const lease of [rig.grant({ target: "a" }).lease, rig.grant({ target: "a" }).lease])
      rig.pool.release(lease);
    expect(rig.store.marks).toEqual(new Map(Object.entries({ a: 2, b: 1 })));
    for (let i = 0; i < 12; i += 1) {
      rig.advance(10_000);
      rig.pool.renew(busy);
    }
    expect(rig.store.marks).toEqual(new Map(Object.entries({ b: 1 })));
  });
});

describe("shares of callers", () => {
  const of = (caller: string, more: Partial<AcquireRequest> = {}) => ({ caller, ...more });

  test("a caller that fills all slots and the queue leaves the next ones to whoever comes", () => {
    const rig = rigWith(["a", "b"], { perAccount: 2, queue: 10 });
    const leases = Array.from({ length: 4 }, () => rig.grant(of("greedy")).lease);
    const greedy = Array.from({ length: 4 }, () => rig.queue(of("greedy")));
    const modest = [rig.queue(of("modest")), rig.queue(of("modest")), rig.queue(of("modest"))];
    for (const lease of leases.slice(0, 2)) rig.pool.release(lease);
    expect(modest.map((it) => it.outcome !== null)).toEqual([true, true, false]);
    expect(greedy.every((it) => it.outcome === null)).toBe(true);
    // Both hold two of four now: they take turns, each in its order of arrival.
    for (const waiter of modest.slice(0, 1)) rig.pool.release(leaseOf(waiter));
    expect(modest[2]?.outcome).not.toBeNull();
    rig.pool.release(leases[2] ?? "");
    expect(greedy.map((it) => it.outcome !== null)).toEqual([true, false, false, false]);
  });

  test("callers that hold equally many take turns, each in its own order of arrival", () => {
    const rig = rigWith(["a"], { queue: 20 });
    let lease = rig.grant(of("x")).lease;
    const waiting = ["x", "x", "x", "y", "y", "z"].map((caller, n) => ({
      name: caller + n,
      it: rig.queue(of(caller)),
    }));
    const order: string[] = [];
    while (order.length < waiting.length) {
      rig.pool.release(lease);
      const served = waiting.filter(({ name, it }) => it.outcome !== null && !order.includes(name));
      expect(served).toHaveLength(1);
      for (const { name, it } of served) {
        order.push(name);
        lease = leaseOf(it);
      }
    }
    expect(order).toEqual(["y3", "z5", "x0", "y4", "x1", "x2"]);
  });

  test("a slot that only a greedy caller can use is not left idle", () => {
    const rig = rigWith(["a", "b"]);
    rig.grant(of("greedy", { target: "a" }));
    const b = rig.grant(of("greedy", { target: "b" }));
    rig.queue(of("modest", { target: "a" }));
    const waiter = rig.queue(of("greedy"));
    rig.pool.release(b.lease);
    expect(result(waiter)).toBe("b");
  });

  test("in a full queue the newest request of whoever fills it gives way, until both have as many", () => {
    const rig = rigWith(["a"], { queue: 4 });
    rig.grant(of("greedy"));
    const greedy = Array.from({ length: 4 }, () => rig.queue(of("greedy")));
    rig.queue(of("modest"));
    rig.queue(of("modest"));
    expect(greedy.map(result)).toEqual([null, null, "queue_full", "queue_full"]);
    expect(rig.pool.acquire(request(of("modest")))).toEqual({ refused: "queue_full" });
    expect(rig.pool.acquire(request(of("greedy")))).toEqual({ refused: "queue_full" });
    expect(rig.pool.status()).toMatchObject({ waiting: 4, max_queue_size: 4 });
  });

  test("nobody gives way to a request that does not wait", () => {
    const rig = rigWith(["a"], { queue: 2 });
    rig.grant(of("greedy"));
    const greedy = [rig.queue(of("greedy")), rig.queue(of("greedy"))];
    expect(rig.pool.acquire(request(of("modest", { waitMs: 0 })))).toEqual({ refused: "queue_timeout" });
    expect(greedy.map(result)).toEqual([null, null]);
  });

  test("a restart does not make a caller poor that has much", () => {
    const rig = rigWith(["a", "b"]);
    const leases = [rig.grant(of("greedy")), rig.grant(of("greedy"))];
    rig.restart().configure(configuration(["a", "b"]));
    const [first, second] = leases.map(({ lease, account: { id } }) =>
      rig.pool.resumeLease(lease, id, { requestId: "r", model: "m", dialect: "", caller: "greedy" }),
    );
    expect(second).not.toBeNull();
    const greedy = rig.queue(of("greedy"));
    const modest = rig.queue(of("modest"));
    rig.pool.release(first ?? "");
    expect([result(greedy), result(modest)]).toEqual([null, "a"]);
  });
});

describe("queue status (contract)", () => {
  test("names every field, with 0 limits shown as what they stand for", () => {
    const rig = rigWith(["a", "b"], { perAccount: 1 });
    rig.grant({ requestId: "one", model: "flash", dialect: "chat" });
    rig.grant({ target: "b" });
    rig.queue({ requestId: "two", target: "b" });
    rig.advance(250);
    expect(rig.pool.status()).toEqual({
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
