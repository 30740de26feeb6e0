import type { AcquireRequest, RefusalReason } from "../../../src/core/ports/accounts.ts";
import type { PoolLimits } from "../../../src/core/ports/pool-configuration.ts";

export const TTL = 30_011;

export const UNKNOWN = 3;
const TRIAL_MS = 10_000;

export interface ModelLease {
  readonly token: string;
  readonly account: string;
  readonly caller: string;
  readonly requestId: string;
  /** Arrival in the model's count of events. */
  readonly order: number;
  expires: number;
  /** It got the account since that failed last. */
  trial: boolean;
}

export interface ModelWaiter {
  readonly name: number;
  readonly request: AcquireRequest;
  readonly until: number;
}

/** Failures of the provider with no success in between. */
interface ModelSeries {
  readonly accounts: Set<string>;
  readonly requests: Set<string>;
  failedAt: number;
  trial: { readonly requestId: string; readonly since: number } | null;
}

interface ModelProxy {
  failures: number;
  coolUntil: number;
  failedAt: number;
}

/** Which accounts share a proxy. */
export const PROXY_OF: Readonly<Record<string, string>> = { b: "p", c: "p", d: "q" };

interface ModelAccount {
  configured: boolean;
  disabled: boolean;
  weight: number;
  /** Grants in its present turn. */
  turn: number;
  unconfirmed: number;
  failures: number;
  providerFailures: number;
  coolUntil: number;
  failedAt: number;
  /** Requests that it may have at once while others are healthy: all it likes once it works. */
  allowance: number;
  triedAt: number;
  /** What the store knows of that. */
  proven: boolean;
  /** Step at which it was granted, or became ready, last. */
  since: number;
  ready: boolean;
}

/**
 * What the pool promises, written the plain way: arrays that are searched from the front. It does not say which of
 * several accounts is chosen, only which may be.
 */
export class PoolModel {
  limits: PoolLimits;
  step = 0;
  order = 0;
  claimDeadline = 0;
  readonly accounts = new Map<string, ModelAccount>();
  readonly proxies = new Map<string, ModelProxy>();
  provider: ModelSeries | null = null;
  leases: ModelLease[] = [];
  waiting: ModelWaiter[] = [];
  /** When each caller was granted a slot last, as long as it holds or wants one. */
  readonly served = new Map<string, number>();

  constructor(limits: PoolLimits) {
    this.limits = limits;
  }

  get total(): number {
    return [...this.accounts.values()].filter((it) => it.configured).length;
  }

  get enabled(): number {
    return [...this.accounts.values()].filter((it) => it.configured && !it.disabled).length;
  }

  get unconfirmed(): number {
    return [...this.accounts.values()].reduce((sum, it) => sum + it.unconfirmed, 0);
  }

  get inUse(): number {
    return this.leases.length + this.unconfirmed;
  }

  get globalLimit(): number {
    return this.limits.global || this.total * this.limits.perAccount;
  }

  get queueLimit(): number {
    return this.limits.queue || this.total * this.limits.perAccount;
  }

  account(id: string): ModelAccount {
    let found = this.accounts.get(id);
    if (found === undefined) {
      found = {
        configured: false,
        disabled: false,
        weight: 1,
        turn: 0,
        unconfirmed: 0,
        failures: 0,
        providerFailures: 0,
        coolUntil: 0,
        failedAt: 0,
        allowance: UNKNOWN,
        triedAt: 0,
        proven: false,
        since: 0,
        ready: false,
      };
      this.accounts.set(id, found);
    }
    return found;
  }

  held(id: string): number {
    return this.leases.filter((lease) => lease.account === id).length + this.account(id).unconfirmed;
  }

  free(id: string): boolean {
    return this.account(id).configured && this.held(id) < this.limits.perAccount;
  }

  /** Its trials are under way: others are used meanwhile. */
  #onTrial(id: string): boolean {
    const trials = this.leases.filter((lease) => lease.account === id && lease.trial).length;
    return trials >= this.account(id).allowance;
  }

  /** It has failed: one request at a time may try it. */
  #doubt(id: string): void {
    this.account(id).allowance = 1;
    this.forgetTrials(id);
  }

  /** What is under way tells nothing of the account as it is now. */
  forgetTrials(id: string): void {
    for (const lease of this.leases) if (lease.account === id) lease.trial = false;
  }

  /** The accounts that are held back for it. */
  heldBack(now: number): ModelAccount[] {
    return this.healthy(now)
      .filter((id) => this.free(id) && this.#onTrial(id))
      .map((id) => this.account(id));
  }

  /** What has been tried for long may be tried by one more. */
  tryAgain(now: number): void {
    for (const it of this.heldBack(now)) {
      if (it.triedAt + TRIAL_MS > now) continue;
      it.allowance += 1;
      it.triedAt = now;
    }
  }

  healthy(now: number): string[] {
    return [...this.accounts]
      .filter(([id, it]) => it.configured && !it.disabled && this.coolUntil(id) <= now)
      .map(([id]) => id);
  }

  proxy(account: string): ModelProxy {
    const id = PROXY_OF[account] ?? "";
    const found = this.proxies.get(id) ?? { failures: 0, coolUntil: 0, failedAt: 0 };
    if (id !== "") this.proxies.set(id, found);
    return found;
  }

  /** Until when an account is passed over, for whatever reason. */
  coolUntil(id: string): number {
    return Math.max(this.account(id).coolUntil, this.proxy(id).coolUntil);
  }

  /** Accounts that a request may be given now, those whose turn it is first. */
  candidates(request: AcquireRequest, now: number): string[] {
    if (this.inUse >= this.globalLimit) return [];
    if (request.target !== undefined) return this.free(request.target) ? [request.target] : [];
    const healthy = this.healthy(now);
    const exclude = request.exclude ?? [];
    if (healthy.length > 0) {
      const others = healthy.filter((id) => !exclude.includes(id));
      const free = others.filter((id) => this.free(id) && (others.length === 1 || !this.#onTrial(id)));
      const first = Math.min(...free.map((id) => this.account(id).since));
      return free.filter((id) => this.account(id).since === first);
    }
    if (exclude.length > 0) return [];
    const free = [...this.accounts.keys()].filter((id) => this.free(id) && !this.account(id).disabled);
    const first = Math.min(...free.map((id) => this.coolUntil(id)));
    return free.filter((id) => this.coolUntil(id) === first);
  }

  get providerIsDown(): boolean {
    return this.provider !== null && this.provider.accounts.size >= 3 && this.provider.requests.size >= 2;
  }

  /** Somebody tries just now whether the provider works again. */
  #isTried(now: number): boolean {
    const trial = this.provider?.trial;
    if (trial == null || now - trial.since >= 10_000) return false;
    const its = ({ requestId }: { requestId: string }) => requestId === trial.requestId;
    return this.leases.some(its) || this.waiting.some(({ request }) => its(request));
  }

  /** Why a request gets no answer but this at once; null when it is granted or waits. */
  refusal(request: AcquireRequest, now: number): RefusalReason | null {
    if (request.target === undefined && this.provider !== null && this.providerIsDown) {
      if (request.exclude?.length || this.#isTried(now)) return "provider_down";
      this.provider.trial = { requestId: request.requestId, since: now };
    }
    if (this.total === 0) return "no_accounts";
    if (request.target !== undefined && !this.accounts.get(request.target)?.configured)
      return "target_not_found";
    if (request.target !== undefined && this.account(request.target).disabled && !request.disabledToo)
      return "target_not_found";
    if (request.target === undefined && this.enabled === 0) return "no_accounts";
    const { exclude } = request;
    if (request.target === undefined && exclude?.length) {
      if (this.healthy(now).every((id) => exclude.includes(id))) return "no_accounts";
    }
    if (this.candidates(request, now).length > 0) return null;
    if (this.waiting.length >= this.queueLimit && this.surplus(request) === null) return "queue_full";
    return request.waitMs === 0 ? "queue_timeout" : null;
  }

  /** Whose slots a caller's are, in all. */
  heldBy(caller: string): number {
    return this.leases.filter((lease) => lease.caller === caller).length;
  }

  #waitingOf(caller: string): ModelWaiter[] {
    return this.waiting.filter(({ request }) => request.caller === caller);
  }

  /** The waiting request that gives way to another one in a full queue; null: there is none. */
  surplus({ caller = "" }: AcquireRequest): ModelWaiter | null {
    const callers = [...new Set(this.waiting.map(({ request }) => request.caller ?? ""))];
    const most = Math.max(0, ...callers.map((it) => this.#waitingOf(it).length));
    if (most <= this.#waitingOf(caller).length + 1) return null;
    const rich = callers.filter((it) => this.#waitingOf(it).length === most);
    return this.waiting.findLast(({ request }) => rich.includes(request.caller ?? "")) ?? null;
  }

  /** The request that must be served next: of the caller that holds least, then of the one that was served longest ago. */
  runnable(now: number): ModelWaiter | null {
    const able = this.waiting.filter((waiter) => this.candidates(waiter.request, now).length > 0);
    const held = Math.min(...able.map(({ request }) => this.heldBy(request.caller ?? "")));
    const poor = able.filter(({ request }) => this.heldBy(request.caller ?? "") === held);
    const last = ({ request }: ModelWaiter) => this.served.get(request.caller ?? "") ?? 0;
    const first = Math.min(...poor.map(last));
    return poor.find((waiter) => last(waiter) === first) ?? null;
  }

  grant(id: string, token: string, { caller = "", requestId }: AcquireRequest, now: number): ModelLease {
    this.order += 1;
    const lease = {
      token,
      account: id,
      caller,
      requestId,
      order: this.order,
      expires: now + TTL,
      trial: true,
    };
    this.leases.push(lease);
    this.served.set(caller, this.order);
    const it = this.account(id);
    it.triedAt = now;
    it.turn += 1;
    if (it.turn >= it.weight) {
      it.turn = 0;
      it.since = this.step;
    }
    this.refresh(now);
    return lease;
  }

  /** Notes which accounts have just become ready. */
  refresh(now: number): void {
    for (const caller of this.served.keys()) {
      if (this.heldBy(caller) + this.#waitingOf(caller).length === 0) this.served.delete(caller);
    }
    for (const [id, it] of this.accounts) {
      const ready = this.free(id) && !it.disabled && this.coolUntil(id) <= now && !this.#onTrial(id);
      if (ready && !it.ready) it.since = it.turn > 0 ? -this.step : this.step;
      it.ready = ready;
    }
  }

  fail(lease: ModelLease, now: number): void {
    const it = this.account(lease.account);
    if (!it.configured || lease.order <= it.failedAt) return;
    it.failures += 1;
    it.coolUntil = now + Math.min(120_000, 5_000 * 2 ** (it.failures - 1));
    it.failedAt = this.order;
    it.proven = false;
    this.#doubt(lease.account);
  }

  /** The provider fails. If it is down from now on, returns the waiting requests, which the pool rejects at once. */
  failProvider(lease: ModelLease, now: number): ModelWaiter[] {
    const it = this.account(lease.account);
    const first = this.provider === null;
    const before = this.providerIsDown;
    this.provider ??= { accounts: new Set(), requests: new Set(), failedAt: 0, trial: null };
    const { provider } = this;
    if (provider.trial?.requestId === lease.requestId) provider.trial = null;
    if (lease.order > provider.failedAt) {
      provider.accounts.add(lease.account);
      provider.requests.add(lease.requestId);
      provider.failedAt = this.order;
    }
    if (first && it.configured && lease.order > it.failedAt) {
      it.providerFailures += 1;
      it.failedAt = this.order;
      if (it.providerFailures >= 3) {
        it.failures += 1;
        it.coolUntil = now + Math.min(120_000, 5_000 * 2 ** (it.failures - 1));
        it.proven = false;
        this.#doubt(lease.account);
      }
    }
    if (before || !this.providerIsDown) return [];
    const told = this.waiting.filter(({ request }) => request.target === undefined);
    this.waiting = this.waiting.filter(({ request }) => request.target !== undefined);
    return told;
  }

  failProxy(lease: ModelLease, now: number): void {
    const it = this.proxy(lease.account);
    if (!this.account(lease.account).configured || lease.order <= it.failedAt) return;
    it.failures += 1;
    it.coolUntil = now + Math.min(300_000, 5_000 * 2 ** (it.failures - 1));
    it.failedAt = this.order;
    for (const [id, bound] of this.accounts) {
      if (bound.configured && PROXY_OF[id] === PROXY_OF[lease.account]) this.#doubt(id);
    }
  }

  succeed(lease: ModelLease): void {
    if (this.provider !== null && lease.order > this.provider.failedAt) this.provider = null;
    const proxy = this.proxy(lease.account);
    const bound = this.account(lease.account).configured;
    if (bound && lease.order > proxy.failedAt) Object.assign(proxy, { failures: 0, coolUntil: 0 });
    const it = this.account(lease.account);
    if (lease.order <= it.failedAt) return;
    it.failures = 0;
    it.providerFailures = 0;
    it.coolUntil = 0;
    if (bound && lease.order > proxy.failedAt) {
      Object.assign(it, { allowance: Number.POSITIVE_INFINITY, proven: true });
    }
  }

  /** When something happens next by itself. */
  nextEvent(now: number): number {
    const times = [
      ...this.leases.map((lease) => lease.expires),
      ...this.waiting.map((waiter) => waiter.until),
      ...[...this.accounts.values(), ...this.proxies.values()]
        .filter((it) => it.coolUntil > now)
        .map((it) => it.coolUntil),
      ...this.heldBack(now).map((it) => Math.max(now, it.triedAt + TRIAL_MS)),
    ];
    if (this.unconfirmed > 0) times.push(this.claimDeadline);
    return Math.min(...times);
  }

  /** Lets what is due at `now` happen; returns the waiters whose time is over. */
  elapse(now: number): ModelWaiter[] {
    this.leases = this.leases.filter((lease) => lease.expires > now);
    if (now >= this.claimDeadline) for (const it of this.accounts.values()) it.unconfirmed = 0;
    this.tryAgain(now);
    const over = this.waiting.filter((waiter) => waiter.until <= now);
    this.waiting = this.waiting.filter((waiter) => waiter.until > now);
    this.refresh(now);
    return over;
  }
}
