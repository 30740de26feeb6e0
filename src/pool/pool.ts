import { accountsByName } from "../config/account-identifier.ts";
import { UseLedger } from "../limits/ledger.ts";
import { NOWHERE, type UseStore } from "../limits/store.ts";
import type { AccountHealth, QueueStatus } from "../platform/account-status.ts";
import type {
  AccountFailure,
  AcquireRequest,
  LeasedAccount,
  SignedIn,
  TokenAnswer,
} from "../platform/accounts.ts";
import type { PoolConfiguration } from "../platform/pool-configuration.ts";
import type { ShardStatus } from "../shards/shard-status.ts";
import { AccountMoves } from "./account-moves.ts";
import type { AccountState } from "./account-state.ts";
import { AccountTokens } from "./account-tokens.ts";
import { Handover } from "./handover.ts";
import { HealthKeeper } from "./health-keeper.ts";
import type { Pulse } from "./heartbeat.ts";
import { identityOf } from "./identity.ts";
import { CLAIM_MS, LEASE_TTL_MS } from "./lease-life.ts";
import { type Holder, SLOT_RECLAIMED } from "./leases.ts";
import type { PartedLimit, PartUse } from "./limit-part.ts";
import { LimitedUses } from "./limited-uses.ts";
import { accountHealth, queueStatus } from "./pool-status.ts";
import type { PoolStore } from "./pool-store.ts";
import { ProviderTrials } from "./provider-trials.ts";
import { Proxies } from "./proxies.ts";
import type { LimitParts } from "./slot-limits.ts";
import { Slots } from "./slots.ts";
import { type Clockwork, Upkeep } from "./upkeep.ts";
import { UseOutcomes } from "./use-outcomes.ts";
import { type Outcome, Waiter } from "./waiting-queue.ts";

/** Dependencies and settings of the pool. */
export interface PoolOptions extends Clockwork {
  readonly store: PoolStore;
  /** Store for the use counted for keys with limits; by default a restart loses it. */
  readonly uses?: UseStore;
  /** Lifetime of a lease that is not renewed, milliseconds. */
  readonly leaseTtlMs?: number;
  /** How long a restarted pool holds slots back for leases that were just granted, milliseconds. */
  readonly claimMs?: number;
  /** How long a request waits during an outage for the result of the probe, milliseconds; 0: not at all. */
  readonly trialWaitMs?: number;
  /**
   * Name of the process in which the pool and all lease holders run: leases granted in another process have ended with it.
   * Absent or empty: holders may outlive the pool.
   */
  readonly boot?: string;
  /** Lease holders end together with the pool: it stores nothing about leases, and grants even when its storage fails. */
  readonly endsWithHolders?: boolean;
  /** See `LimitRebalancer.onLimitExhausted`. */
  readonly short?: (limit: PartedLimit, turnedAway: boolean) => void;
}

/** Default of {@link PoolOptions.probeWaitMs}. */
const TRIAL_WAIT_MS = 1_000;
/** The account data that a lease holder receives. */
function accountOf({ id, account, lane: { provider } }: AccountState): LeasedAccount {
  const proxyId = account?.proxyId ?? "";
  return provider === "" ? { id, proxyId } : { id, proxyId, provider };
}

/**
 * The account pool: slots on provider accounts, waiting requests, and sign-ins. This class holds the rules only: clock,
 * timers and storage are injected; there is no network. All methods run synchronously to their end, so each sees exact
 * counts. A lease ends exactly once, by release or by expiry; ending it again, or too late, has no effect.
 */
export class AccountPool {
  /** Counts requests of keys with limits. */
  readonly uses: LimitedUses;
  /** Accounts that move between this pool and other shards. */
  readonly moves: AccountMoves;
  readonly #now: () => number;
  readonly #store: PoolStore;
  readonly #slots: Slots;
  readonly #tokens: AccountTokens;
  readonly #proxies = new Proxies();
  readonly #upkeep: Upkeep;
  readonly #ledger: UseLedger;
  readonly #health: HealthKeeper;
  readonly #trials: ProviderTrials;
  readonly #outcomes: UseOutcomes;
  readonly #handover = new Handover();
  /** See `PoolShard.order`. */
  #order = 0;
  /** Version of the configuration; 0: unknown. */
  #configVersion = 0;

  constructor(options: PoolOptions) {
    const { store, uses = NOWHERE, now, leaseTtlMs = LEASE_TTL_MS, claimMs = CLAIM_MS, boot = "" } = options;
    const terms = { boot, claimMs, awaitMs: leaseTtlMs, endsWithHolders: options.endsWithHolders === true };
    this.#now = now;
    this.#store = store;
    this.#upkeep = new Upkeep(
      options,
      () => this.#slots.inUse === 0,
      () => this.#slots.catchUp(),
      () => this.#wake(),
      () => this.#settle(),
    );
    this.#slots = new Slots(store, leaseTtlMs, terms, now, options.setTimer, {
      describe: (state, { model, use }, at) => {
        this.#upkeep.planSweep();
        this.#upkeep.hold();
        if (use !== undefined) this.#ledger.begin(use.id, at);
        state.health.used(at);
        return {
          account: accountOf(state),
          token: this.#tokens.peek(state, at),
          failing: state.failing || state.lane.breaker.watches(model),
          ...(use === undefined ? {} : { limits: this.#ledger.state(use, at) }),
          ...(this.#configVersion === 0 ? {} : { configVersion: this.#configVersion }),
        };
      },
      ended: ({ state, token, holder, told, expiresAt }, at) => {
        // A lease released without a report counts as a success. An expired lease has no known result.
        if (!told && expiresAt > at) state.health.succeeded(at);
        this.#trials.ended(state.lane, identityOf(holder));
        if (holder.use !== undefined) this.#ledger.leave(holder.use, at);
        this.#tokens.leaseEnded(state, token, at);
      },
      dismissed: (request) => this.#unserved(request),
      idle: () => this.#upkeep.idle(),
      rescheduled: () => this.#reschedule(),
      short: (limit, turnedAway) => options.short?.(limit, turnedAway),
    });
    this.#tokens = new AccountTokens(store, now(), (id) => this.#slots.accounts.make(id));
    this.#trials = new ProviderTrials(this.#slots, options.trialWaitMs ?? TRIAL_WAIT_MS, now);
    this.#outcomes = new UseOutcomes(this.#slots, this.#tokens, this.#proxies, this.#trials, now);
    this.#health = new HealthKeeper(store, this.#slots.accounts);
    this.#ledger = new UseLedger(uses, now(), this.#slots.reservations.orphansMs);
    this.uses = new LimitedUses(this.#ledger, this.#upkeep, now);
    this.moves = new AccountMoves(this.#slots, this.#tokens, this.#handover, now);
    if (this.#slots.reservations.pending || this.#ledger.pending) this.#upkeep.planSweep();
    if (this.#slots.inUse > 0) this.#upkeep.hold();
  }

  /**
   * Applies accounts and limits while requests are running: no request loses its slot, and limits are never exceeded.
   * Returns false when the pool already has a newer configuration.
   */
  configure({ accounts, limits, proxies = [], perAccount, version, shard }: PoolConfiguration): boolean {
    // A configuration without a shard is outdated once there are several pools.
    if (this.#order > (shard?.order ?? 0) || this.#order === shard?.order) return false;
    if (version !== undefined) {
      if (version < this.#configVersion) return false;
      this.#configVersion = version;
    }
    this.#order = shard?.order ?? 0;
    if (shard !== undefined) this.#handover.configure(shard.layout, shard.name);
    this.#slots.catchUp();
    this.#tokens.refreshMs = limits.tokenRefreshMs;
    const configured = new Set<string>();
    for (const account of accounts) {
      if (configured.has(account.id)) continue;
      configured.add(account.id);
      const state = this.#slots.accounts.make(account.id);
      if (state.account !== null && state.lane.provider !== (account.provider ?? ""))
        this.#tokens.remove(state);
      this.#slots.assign(state, account.provider ?? "");
      this.#tokens.configure(state, account, this.#now());
      this.#proxies.bind(state, account.proxyId);
      state.elsewhere = account.moved === true ? 0 : this.#handover.elsewhere(account.id);
    }
    for (const state of this.#slots.accounts) {
      if (configured.has(state.id)) continue;
      this.#tokens.gone(state, this.#now());
      this.#proxies.bind(state, "");
    }
    this.#proxies.configure(proxies);
    this.#slots.accounts.names = accountsByName(accounts.filter(({ moved }) => moved !== true));
    this.#slots.configure(limits, perAccount);
    return true;
  }

  /** Sets the shares that the pool may use of limits shared with other pools. */
  takeParts(parts: LimitParts): void {
    this.#slots.takeParts(parts);
  }

  /** How much of the shared limits the pool uses and could use. */
  partUses(): Readonly<Record<PartedLimit, PartUse>> {
    const { inUse, limits, reservations } = this.#slots;
    return limits.uses(inUse, reservations.ghosts);
  }

  /** Whether the provider has an enabled account that is not cooling down, busy or not. Absent: the default provider. */
  isWell(provider: string | undefined): boolean {
    this.#slots.catchUp();
    const lane = this.#slots.lanes.of(provider);
    return lane !== undefined && this.#slots.othersAreHealthy(lane, []);
  }

  /**
   * Grants a slot, refuses the request, or lets it wait. Throws when the storage fails: then nothing is granted. The result
   * may be used once {@link confirmStored} has resolved.
   *
   * @param mayRebalance if the queue is full, more room may come from other shards: the request is refused and no waiting
   *   request is evicted
   */
  acquire(request: AcquireRequest, mayTrade = false): Outcome | Waiter {
    const { use } = request;
    if (use === undefined) return this.#admit(request, mayTrade);
    const limited = this.uses.refusal(use);
    if (limited !== null) return limited;
    const outcome = this.#admit(request, mayTrade);
    if (outcome instanceof Waiter) this.#ledger.wait(use.id);
    return outcome;
  }

  #admit(request: AcquireRequest, mayTrade: boolean): Outcome | Waiter {
    // A request pinned to one account bypasses the circuit breaker and gets that account's own result.
    const lane = request.target === undefined ? this.#slots.lanes.of(request.provider) : undefined;
    const heldUp = lane === undefined ? null : this.#trials.heldUp(lane, request);
    if (heldUp !== null) {
      if (!(heldUp instanceof Waiter)) this.#givenBack(request);
      return heldUp;
    }
    try {
      const outcome = this.#slots.acquire(request, mayTrade);
      if ("refused" in outcome) this.#unserved(request);
      return outcome;
    } catch (error) {
      this.#unserved(request);
      throw error;
    }
  }

  /**
   * Resolves when the consequences of an outcome are stored; null: they are. When the storage fails, it reverts the outcome
   * and rejects.
   *
   * @param also whether the request also brought results of other requests that must be stored
   */
  keeping(request: AcquireRequest, outcome: Outcome | Waiter, also = false): Promise<void> | null {
    const keeping = request.use === undefined && !also ? null : this.uses.keeping();
    if (keeping === null) return null;
    return keeping.catch((error: unknown) => {
      this.#takeBack(request, outcome);
      throw error;
    });
  }

  #takeBack({ use, exclude = [] }: AcquireRequest, outcome: Outcome | Waiter): void {
    if (outcome instanceof Waiter) outcome.cancel();
    else if ("granted" in outcome) {
      const lease = this.#slots.leases.get(outcome.granted.lease);
      // The release of this lease must not count as a success of the account.
      if (lease !== undefined) lease.told = true;
      this.release(outcome.granted.lease);
      if (use !== undefined) this.uses.unserved(use.id, exclude.length === 0);
    }
  }

  /** Releases a slot. Returns false when the lease had already ended. */
  release(token: string): boolean {
    return this.#slots.release(token);
  }

  /** Renews a lease. Returns false when it was reclaimed: another request may have the slot. */
  renew(token: string): boolean {
    this.#slots.catchUp();
    const lease = this.#slots.leases.get(token);
    if (lease === undefined) return false;
    this.#slots.leases.renew(lease, this.#now());
    return true;
  }

  /**
   * Resumes a lease that was granted before a restart of the pool, under a new name. Returns null when it has ended. Each
   * name can be resumed once. `isolate` is the isolate whose heartbeats will name the lease; empty: the holder renews it
   * itself.
   */
  resume(token: string, account: string, holder: Holder, isolate = ""): string | null {
    const name = this.#slots.resume(token, account, holder, isolate);
    if (name !== null) this.#upkeep.hold();
    if (name !== null && holder.use !== undefined) this.#ledger.resumed(holder.use);
    return name;
  }

  /** Renews the long-lived leases of an isolate; `tokens` must name all of them. */
  beat(isolate: string, tokens: readonly string[], known?: number): Pulse {
    return this.#slots.beat(isolate, tokens, known);
  }

  /** See `Lease.token`. A request for the token also renews the lease. */
  token(token: string, stale?: string): TokenAnswer | Promise<TokenAnswer> {
    if (!this.renew(token)) return SLOT_RECLAIMED;
    const lease = this.#slots.leases.get(token);
    if (lease === undefined) return SLOT_RECLAIMED;
    const { state } = lease;
    const answer = this.#tokens.request(state, token, stale, this.#now());
    return answer instanceof Promise
      ? answer.then((late) => this.#meant(state, late))
      : this.#meant(state, answer);
  }

  /** Adds the account's current provider and configuration version to the answer: they may have changed since the grant. */
  #meant({ lane: { provider } }: AccountState, answer: TokenAnswer): TokenAnswer {
    if ("failed" in answer) return answer;
    return {
      ...answer,
      ...(provider === "" ? {} : { provider }),
      ...(this.#configVersion === 0 ? {} : { configVersion: this.#configVersion }),
    };
  }

  /** See `Lease.signedIn`. Only the ticket must be valid: a token is useful even if the lease has ended. */
  signedIn(account: string, ticket: string, result: SignedIn): void {
    const state = this.#slots.accounts.get(account);
    if (state !== undefined) this.#tokens.signedIn(state, ticket, result, this.#now());
  }

  /** See `Lease.signInFailed`. */
  signInFailed(account: string, ticket: string, failure: AccountFailure): void {
    const state = this.#slots.accounts.get(account);
    if (state === undefined) return;
    const cool = this.#tokens.signInFailed(state, ticket, failure, this.#now());
    if (cool) this.#outcomes.blame(state, failure, Number.POSITIVE_INFINITY);
  }

  /**
   * Records that the use of a lease's account failed. Failures of requests granted before the last failure are ignored, so
   * one burst counts once. Returns whether another account of the provider is healthy.
   */
  failed(token: string, failure: AccountFailure): boolean {
    this.#slots.catchUp();
    const lease = this.#slots.leases.get(token);
    if (lease === undefined) return false;
    this.#outcomes.failed(lease, failure);
    return this.#slots.othersAreHealthy(lease.state.lane, [lease.state.id]);
  }

  /** Records that the account of a lease works. */
  succeeded(token: string): void {
    this.#slots.catchUp();
    const lease = this.#slots.leases.get(token);
    if (lease !== undefined) this.#outcomes.succeeded(lease);
  }

  /** Records the result of an account test. */
  setTestStatus(id: string, status: string): void {
    const state = this.#slots.accounts.get(id);
    if (state !== undefined) this.#tokens.setTestStatus(state, status);
  }

  /** Ids of accounts that can sign in and whose token is older than the refresh interval. */
  tokensDueForRefresh(): string[] {
    const now = this.#now();
    return [...this.#slots.accounts]
      .filter((state) => state.enabled && this.#tokens.due(state, now))
      .map((state) => state.id);
  }

  /** Contract, Queue status; at most `most` entries of each list. */
  status(most?: number): QueueStatus {
    this.#slots.catchUp();
    const outages = this.#slots.lanes.all.flatMap(({ breaker, provider }) => breaker.outages(provider));
    return queueStatus(this.#slots, outages, this.#now(), most);
  }

  /** The same, with the data needed to merge the statuses of several pools. */
  shardStatus(most?: number): ShardStatus {
    const status = this.status(most);
    const ranks: Record<string, number> = {};
    for (const id of [...status.available_accounts, ...status.in_use_accounts])
      ranks[id] = this.#slots.accounts.get(id)?.account?.rank ?? Number.POSITIVE_INFINITY;
    return { status, limits: this.#slots.limits.configured, ranks };
  }

  /** Health of the configured accounts among `ids`, or of all. */
  health(ids?: readonly string[]): AccountHealth[] {
    this.#slots.catchUp();
    const { accounts } = this.#slots;
    return accountHealth(ids === undefined ? accounts : ids.map((id) => accounts.get(id)), this.#now());
  }

  /**
   * Reclaims expired leases, lowers the stored high-water marks, and saves the accounts' health. Returns when to call again
   * (Unix milliseconds), or null.
   */
  sweep(): number | null {
    this.#slots.catchUp();
    const { reservations } = this.#slots;
    let isLeft = true;
    try {
      this.#store.flush();
      reservations.sweep(this.#now());
      this.#health.save();
      const counted = this.#ledger.sweep(this.#now());
      this.#store.flush();
      isLeft = reservations.pending || counted;
    } catch {
      // The storage failed: the next sweep retries.
    }
    return this.#upkeep.swept(isLeft);
  }

  /** The alarm requested with `wakeAt` could not be set, so `sweep` will not be called. */
  sweepLost(): void {
    this.#upkeep.swept(false);
  }

  /** A request was refused, or has left the queue. */
  #unserved(request: AcquireRequest): void {
    const lane = this.#slots.lanes.of(request.provider);
    if (lane !== undefined) this.#trials.ended(lane, identityOf(request));
    this.#givenBack(request);
  }

  #givenBack({ use }: AcquireRequest): void {
    if (use !== undefined) this.#ledger.giveBack(use.id, this.#now());
  }

  /** While requests wait, a timer detects events that no call would trigger. */
  #reschedule(): void {
    this.#upkeep.wake(this.#slots.nextEvent);
  }

  #wake(): void {
    this.#slots.catchUp();
    this.#reschedule();
  }

  /** The pool has been idle for a while. Without high-water marks a restart holds no slots back. */
  #settle(): void {
    this.#slots.reservations.clear();
    for (const state of [...this.#slots.accounts]) this.#slots.accounts.forget(state);
  }
}
