import { describe, expect, test } from "vitest";
import type { AcquireRequest } from "../../../src/core/ports/accounts.ts";
import type { PoolConfiguration, PoolLimits } from "../../../src/core/ports/pool-configuration.ts";
import { Waiter } from "../../../src/pool/queue/waiter.ts";
import { failure } from "../../support/failures.ts";
import { createRandom } from "../../support/pool-simulator/clock.ts";
import { account, LIMITS, leaseOf, request, result } from "../../support/pool-simulator/fixtures.ts";
import { PoolSimulator } from "../../support/pool-simulator/pool-simulator.ts";
import {
  type ModelLease,
  type ModelWaiter,
  PoolModel,
  PROXY_OF,
  TTL,
  UNKNOWN,
} from "../../support/pool-simulator/reference-model.ts";

/** Operations of one run. `SEEDS` says how many runs there are: the long form has hundreds. */
const RUN = 2_000;

const HOLDER = { requestId: "r", model: "m", dialect: "", caller: "" };
const CALLERS = ["x", "x", "x", "y", "z"];
const IDS = ["a", "b", "c", "d", "e"];

/** The configuration as the model has it. */
function configured(ids: readonly string[], model: PoolModel): PoolConfiguration {
  const accounts = ids.map((id) => {
    const { disabled, weight } = model.account(id);
    return account(id, { proxyId: PROXY_OF[id] ?? "", disabled, weight });
  });
  return { accounts, limits: model.limits };
}

/** How often each event has happened. */
const noCounts = () => ({
  granted: 0,
  waited: 0,
  adopted: 0,
  expired: 0,
  refused: 0,
  evicted: 0,
  restarted: 0,
  down: 0,
});

/** Drives a pool and its model side by side, and compares them after each step. */
class Driver {
  readonly simulator = new PoolSimulator({ probeWaitMs: 0, leaseTtlMs: TTL, claimMs: TTL });
  readonly model: PoolModel;
  readonly #random: () => number;
  readonly #waiters = new Map<number, Waiter>();
  /** Leases as their holders know them: also those that the pool has given up. */
  #holders: ModelLease[] = [];
  /** Holders that will not renew any more. */
  readonly #dead = new Set<ModelLease>();
  readonly #gone: ModelLease[] = [];
  /** Leases that the pool took away. */
  readonly #lost: ModelLease[] = [];
  /** Leases that the pool held when it was restarted, and that have not spoken up since. */
  #orphans = new Set<ModelLease>();
  #restarts = 0;
  #served = 0;
  #name = 0;
  #requests = 0;
  readonly counts = noCounts();

  constructor(seed: number) {
    this.#random = createRandom(seed);
    this.model = new PoolModel(LIMITS);
    this.configure();
  }

  #below(n: number): number {
    return Math.floor(this.#random() * n);
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from[this.#below(from.length)];
  }

  step(): void {
    this.model.step += 1;
    this.advance(this.#below(this.#below(20) === 0 ? 20_000 : 300));
    const dice = this.#below(100);
    if (dice < 38) this.acquire();
    else if (dice < 60) this.release();
    else if (dice < 64) this.releaseAgain();
    else if (dice < 72) this.renewAll();
    else if (dice < 76) this.renewOne();
    else if (dice < 79) this.crash();
    else if (dice < 86) this.cancel();
    else if (dice < 89) this.configure();
    else if (dice < 96) this.fail();
    else if (dice < 98) this.succeed();
    else this.restart();
    this.check();
  }

  advance(ms: number): void {
    const end = this.simulator.now + ms;
    for (
      let at = this.model.nextEvent(this.simulator.now);
      at <= end;
      at = this.model.nextEvent(this.simulator.now)
    ) {
      this.simulator.advance(at - this.simulator.now);
      // While no request waits, the pool may notice late.
      if (this.model.waiting.length === 0) this.simulator.pool.status();
      const before = this.model.leases.length;
      for (const { name } of this.model.elapse(at)) this.#ended(name, "queue_timeout");
      this.counts.expired += before - this.model.leases.length;
      this.#serve();
    }
    this.simulator.advance(end - this.simulator.now);
  }

  acquire(): void {
    const more: { target?: string; exclude?: string[]; waitMs?: number; disabledToo?: boolean } = {};
    if (this.#below(4) === 0) more.disabledToo = true;
    const kind = this.#below(10);
    if (kind < 3) more.target = this.#below(12) === 0 ? "nobody" : (this.#pick(IDS) ?? "a");
    else if (kind < 5) more.exclude = IDS.filter(() => this.#below(3) === 0);
    if (this.#below(6) === 0) more.waitMs = this.#below(3) * 2_500;
    this.#requests += 1;
    const asked = { ...request(more), requestId: `r${this.#requests}`, caller: this.#pick(CALLERS) ?? "x" };
    const refusal = this.model.refusal(asked, this.simulator.now);
    const candidates = refusal === null ? this.model.candidates(asked, this.simulator.now) : [];
    const full = this.model.waiting.length >= this.model.queueLimit;
    const surplus = full ? this.model.surplus(asked) : null;
    const outcome = this.simulator.pool.acquire(asked);
    if (outcome instanceof Waiter) {
      expect({ refusal, candidates }).toEqual({ refusal: null, candidates: [] });
      if (surplus !== null) {
        this.model.waiting.splice(this.model.waiting.indexOf(surplus), 1);
        this.#ended(surplus.name, "queue_full");
        this.counts.evicted += 1;
      }
      this.#name += 1;
      this.#waiters.set(this.#name, outcome);
      const until = this.simulator.now + (asked.waitMs ?? this.model.limits.queueWaitMs);
      this.model.waiting.push({ name: this.#name, request: asked, until });
      this.counts.waited += 1;
    } else if ("refused" in outcome) {
      expect(outcome.refused).toBe(refusal);
      this.counts.refused += 1;
    } else {
      expect(refusal).toBeNull();
      this.#granted(outcome.granted.account.id, outcome.granted.lease, asked, candidates);
    }
  }

  #granted(id: string, lease: string, asked: AcquireRequest, candidates: readonly string[]): void {
    expect(candidates).toContain(id);
    const valid = this.#holders.filter((it) => it.expires > this.simulator.now);
    expect(valid.filter((it) => it.account === id).length).toBeLessThan(this.model.limits.perAccount);
    expect(valid.length).toBeLessThan(this.model.globalLimit);
    this.#holders.push(this.model.grant(id, lease, asked, this.simulator.now));
    this.counts.granted += 1;
  }

  /** Everybody who can run must have been served, each when it was its turn, and nobody else. */
  #serve(): void {
    this.model.refresh(this.simulator.now);
    for (;;) {
      const next = this.model.runnable(this.simulator.now);
      if (next === null) break;
      const waiter = this.#waiters.get(next.name);
      if (waiter === undefined) throw new Error("unknown waiter");
      const candidates = this.model.candidates(next.request, this.simulator.now);
      expect(result(waiter), "a request that can run must not wait").not.toBeNull();
      const serial = Number(leaseOf(waiter).split(".")[1]);
      expect(serial, "served in order").toBeGreaterThan(this.#served);
      this.#served = serial;
      this.model.waiting.splice(this.model.waiting.indexOf(next), 1);
      this.#granted(result(waiter) ?? "", leaseOf(waiter), next.request, candidates);
    }
    for (const { name } of this.model.waiting) {
      const waiter = this.#waiters.get(name);
      expect(waiter?.outcome, "a request that cannot run must wait").toBeNull();
    }
  }

  #ended(name: number, how: string): void {
    const waiter = this.#waiters.get(name);
    expect(waiter === undefined ? "unknown" : result(waiter)).toBe(how);
  }

  #isOld(lease: ModelLease): boolean {
    return !lease.token.startsWith(`${this.#restarts + 1}.`);
  }

  #known(lease: ModelLease): boolean {
    return this.model.leases.includes(lease);
  }

  /** Known to the pool, or to be taken over by it: then a slot is still held back for it. */
  #isLive(lease: ModelLease): boolean {
    return this.#known(lease) || (this.#orphans.has(lease) && this.simulator.now < this.model.claimDeadline);
  }

  /** Takes a lease from before a restart over in the model. */
  #adopt(lease: ModelLease, token: string): ModelLease {
    this.#orphans.delete(lease);
    this.model.account(lease.account).unconfirmed -= 1;
    this.model.order += 1;
    const adopted = {
      ...lease,
      token,
      order: this.model.order,
      expires: this.simulator.now + TTL,
      trial: false,
    };
    this.model.leases.push(adopted);
    this.#holders[this.#holders.indexOf(lease)] = adopted;
    if (this.#dead.delete(lease)) this.#dead.add(adopted);
    this.counts.adopted += 1;
    return adopted;
  }

  release(): void {
    const lease = this.#pick(this.#holders.filter((it) => !this.#dead.has(it)));
    if (lease === undefined) return;
    const live = this.#isLive(lease);
    if (this.#isOld(lease)) {
      this.#renew(lease);
      return;
    }
    expect(this.simulator.pool.release(lease.token), "only a live lease is released").toBe(live);
    this.model.leases = this.model.leases.filter((it) => it !== lease);
    this.#holders = this.#holders.filter((it) => it !== lease);
    this.#gone.push(lease);
    this.#serve();
  }

  /** A lease that has ended already is released once more: nothing may change. */
  releaseAgain(): void {
    const lease = this.#pick(this.#gone.slice(-8));
    if (lease === undefined) return;
    expect(this.simulator.pool.release(lease.token)).toBe(false);
    expect(this.simulator.pool.renew(lease.token)).toBe(false);
    const lost = this.#pick(this.#lost.slice(-8));
    if (lost !== undefined)
      expect(this.simulator.pool.resumeLease(lost.token, lost.account, HOLDER)).toBeNull();
    this.#serve();
  }

  #renew(lease: ModelLease): void {
    const live = this.#isLive(lease);
    const { pool } = this.simulator;
    const old = this.#isOld(lease);
    const name = old
      ? pool.resumeLease(lease.token, lease.account, {
          ...HOLDER,
          caller: lease.caller,
          requestId: lease.requestId,
        })
      : lease.token;
    const renewed = name !== null && pool.renew(name);
    expect(renewed, "a holder that renews in time keeps its slot").toBe(live);
    if (name === null || !live) {
      this.#lost.push(lease);
      this.#holders = this.#holders.filter((it) => it !== lease);
      this.#gone.push(lease);
      return;
    }
    const current = old ? this.#adopt(lease, name) : lease;
    current.expires = this.simulator.now + TTL;
  }

  renewAll(): void {
    for (const lease of [...this.#holders]) if (!this.#dead.has(lease)) this.#renew(lease);
  }

  renewOne(): void {
    const lease = this.#pick(this.#holders);
    if (lease !== undefined && !this.#dead.has(lease)) this.#renew(lease);
  }

  /** A holder dies without a word. */
  crash(): void {
    const lease = this.#pick(this.#holders);
    if (lease !== undefined) this.#dead.add(lease);
  }

  cancel(): void {
    const waiting = this.#pick(this.model.waiting);
    if (waiting === undefined) return;
    const waiter = this.#waiters.get(waiting.name);
    waiter?.cancel();
    waiter?.cancel();
    this.model.waiting.splice(this.model.waiting.indexOf(waiting), 1);
    this.#ended(waiting.name, "cancelled");
    this.#serve();
  }

  configure(): void {
    const limits: PoolLimits = {
      ...LIMITS,
      perAccount: 1 + this.#below(5),
      global: this.#below(2) === 0 ? 0 : 1 + this.#below(6),
      queue: this.#below(2) === 0 ? 0 : 1 + this.#below(8),
      queueWaitMs: 10_000 + this.#below(20_000),
    };
    const ids = this.#below(40) === 0 ? [] : IDS.filter(() => this.#below(5) > 0);
    this.model.limits = limits;
    for (const id of ids) {
      Object.assign(this.model.account(id), {
        disabled: this.#below(5) === 0,
        weight: this.#below(3) === 0 ? 1 + this.#below(3) : 1,
      });
    }
    this.simulator.pool.configure(configured(ids, this.model));
    for (const id of ids) this.model.account(id).configured = true;
    for (const [id, it] of this.model.accounts) {
      if (ids.includes(id)) continue;
      Object.assign(it, { configured: false, failures: 0, providerFailures: 0, turn: 0, coolUntil: 0 });
      Object.assign(it, { allowance: UNKNOWN, proven: false });
      this.model.forgetTrials(id);
    }
    for (const proxy of [...this.model.proxies.keys()]) {
      if (ids.every((id) => PROXY_OF[id] !== proxy)) this.model.proxies.delete(proxy);
    }
    const waiting = this.model.waiting.filter(({ request: { target }, name }) => {
      if (target === undefined || ids.includes(target)) return true;
      this.#ended(name, "target_not_found");
      return false;
    });
    const left = (waiter: ModelWaiter) =>
      ids.length > 0 && (this.model.enabled > 0 || waiter.request.target !== undefined);
    this.model.waiting = waiting.filter(left);
    for (const waiter of waiting) if (!left(waiter)) this.#ended(waiter.name, "no_accounts");
    this.#serve();
  }

  fail(): void {
    const lease = this.#pick(this.model.leases);
    if (lease === undefined) return;
    if (PROXY_OF[lease.account] !== undefined && this.#below(2) === 0) {
      this.simulator.pool.failed(lease.token, failure("unreachable", "no proxy", { fault: "proxy" }));
      this.model.failProxy(lease, this.simulator.now);
    } else if (this.#below(5) > 0) {
      this.simulator.pool.failed(lease.token, failure("server_error", "oops"));
      const told = this.model.failProvider(lease, this.simulator.now);
      for (const { name } of told) this.#ended(name, "provider_down");
      if (this.model.providerIsDown) this.counts.down += 1;
    } else {
      this.simulator.pool.failed(lease.token, failure("rate_limited", "slow down"));
      this.model.fail(lease, this.simulator.now);
    }
    this.#serve();
  }

  succeed(): void {
    const lease = this.#pick(this.model.leases);
    if (lease === undefined) return;
    this.simulator.pool.succeeded(lease.token);
    this.model.succeed(lease);
    this.#serve();
  }

  /** The pool loses its memory. The runtime rejects its waiters; holders of leases do not notice. */
  restart(): void {
    const { model, simulator } = this;
    simulator.pool.status();
    if (simulator.now >= model.claimDeadline) this.#orphans.clear();
    for (const lease of model.leases) this.#orphans.add(lease);
    this.#restarts += 1;
    this.counts.restarted += 1;
    this.#served = 0;
    const ids = [...model.accounts].filter(([, it]) => it.configured).map(([id]) => id);
    for (const [id, it] of model.accounts) {
      it.unconfirmed = simulator.store.marks.get(id) ?? 0;
      it.failedAt = 0;
      it.providerFailures = 0;
      it.turn = 0;
      it.ready = false;
      it.allowance = it.failures > 0 ? 1 : it.proven ? Number.POSITIVE_INFINITY : UNKNOWN;
      it.triedAt = 0;
      const valid = this.#holders.filter((lease) => lease.account === id && lease.expires > simulator.now);
      expect(it.unconfirmed, "each live lease is known to the store").toBeGreaterThanOrEqual(valid.length);
    }
    model.leases = [];
    model.waiting = [];
    model.served.clear();
    model.proxies.clear();
    model.provider = null;
    model.claimDeadline = simulator.now + TTL;
    simulator.restart();
    simulator.pool.configure(configured(ids, model));
    this.#serve();
  }

  check(): void {
    const status = this.simulator.pool.status();
    const { model } = this;
    // What an operation has brought to light is looked at with the next call: this was one.
    model.tryAgain(this.simulator.now);
    this.#serve();
    expect(status.in_use).toBe(model.inUse);
    expect(status.waiting).toBe(model.waiting.length);
    expect(status.total).toBe(model.total);
    expect(status.leases.length).toBe(model.leases.length);
    expect([...status.available_accounts].sort()).toEqual(IDS.filter((id) => model.free(id)));
    const ready = model.healthy(this.simulator.now).filter((id) => model.free(id));
    expect(status.ready).toBe(ready.length);
    expect([...status.in_use_accounts].sort()).toEqual(IDS.filter((id) => model.held(id) > 0));
  }

  /** All leases are released or expire. Then no slot is in use and no request waits. */
  finish(): void {
    for (const lease of [...this.#holders]) this.simulator.pool.release(lease.token);
    this.simulator.advance(2 * TTL + 60_000);
    const status = this.simulator.pool.status();
    expect({ in_use: status.in_use, waiting: status.waiting }).toEqual({ in_use: 0, waiting: 0 });
    expect(this.simulator.store.marks.size).toBe(0);
  }
}

describe("any sequence of acquire, pin, cancel, release, crash, settings change, restart and expiry", () => {
  const seeds = Array.from({ length: Number(process.env["SEEDS"] ?? 12) }, (_, index) => index + 1);
  const total = noCounts();

  test.each(seeds)(
    "keeps to the limits, to fair shares and to each caller's order of arrival (seed %i)",
    (seed) => {
      const driver = new Driver(seed);
      for (let step = 0; step < RUN; step += 1) driver.step();
      driver.finish();
      for (const [name, count] of Object.entries(driver.counts)) {
        if (name in total) Object.assign(total, { [name]: Reflect.get(total, name) + count });
      }
    },
  );

  test("contains each kind of event more than five times in all", () => {
    for (const count of Object.values(total)) expect(count).toBeGreaterThan(5);
  });
});
