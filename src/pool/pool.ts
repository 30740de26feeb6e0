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

/** What the pool needs from where it runs. */
export interface PoolOptions extends Clockwork {
  readonly store: PoolStore;
  /** Where it is kept what the requests of keys with limits use; unless given it is forgotten at a restart. */
  readonly uses?: UseStore;
  /** Life of a lease that is not renewed, milliseconds. */
  readonly leaseTtlMs?: number;
  /** How long a restarted pool holds slots back for leases that had just been granted, milliseconds. */
  readonly claimMs?: number;
  /** While the provider is down, for how long a request waits for what comes of the one that tries, milliseconds; 0: not at all. */
  readonly trialWaitMs?: number;
  /**
   * Names the process that the pool and all holders of its leases live in: what a pool of another process granted has ended
   * with it. Absent or empty: holders may outlive the pool.
   */
  readonly boot?: string;
  /** The holders of its leases end with the pool itself: it writes down nothing of them, and grants although its storage fails. */
  readonly endsWithHolders?: boolean;
  /** See `PartTrader.short`. */
  readonly short?: (limit: PartedLimit, turnedAway: boolean) => void;
}

/** See {@link PoolOptions.trialWaitMs}. */
const TRIAL_WAIT_MS = 1_000;
/** What the holder of a slot is told of its account. */
function accountOf({ id, account, lane: { provider } }: AccountState): LeasedAccount {
  const proxyId = account?.proxyId ?? "";
  return provider === "" ? { id, proxyId } : { id, proxyId, provider };
}

/**
 * The account pool: slots on provider accounts, who waits for them, and who signs in. The rules alone: no runtime, no
 * network; clock, timers and storage are given. All methods run to their end without interruption, so that each sees the
 * limits exactly as they are. A lease ends exactly once, by release or by expiry; ending it again, or too late, changes
 * nothing.
 */
export class AccountPool {
  /** Requests of keys with limits. */
  readonly uses: LimitedUses;
  /** Accounts that move between this pool and others. */
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
  /** Version of the configuration; 0: nobody has told it. */
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
        // What was given back without a word has gone well. Of what expired nothing is known.
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
   * Takes over accounts and limits while requests are in flight: nobody loses a slot, nobody gets one too many. False: it has a
   * newer configuration already.
   */
  configure({ accounts, limits, proxies = [], perAccount, version, shard }: PoolConfiguration): boolean {
    // Once there are several pools, word of one is from before.
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

  /** What it may use of limits that it shares with other pools, from now on. */
  takeParts(parts: LimitParts): void {
    this.#slots.takeParts(parts);
  }

  /** How much of those limits it uses, and could use. */
  partUses(): Readonly<Record<PartedLimit, PartUse>> {
    const { inUse, limits, reservations } = this.#slots;
    return limits.uses(inUse, reservations.ghosts);
  }

  /** Whether an account of a provider may be chosen and is not passed over, busy or not. Absent: the default provider. */
  isWell(provider: string | undefined): boolean {
    this.#slots.catchUp();
    const lane = this.#slots.lanes.of(provider);
    return lane !== undefined && this.#slots.othersAreHealthy(lane, []);
  }

  /**
   * Grants a slot, refuses, or has the request wait. Throws when the storage fails: the request has nothing then. What it returns
   * counts once {@link keeping} has come.
   *
   * @param mayTrade if the queue is full there may be more room soon: it is refused, and nobody gives way
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
    // Who wants one account is told what that account says.
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
   * Resolves when what follows from the outcome of a request is written; null: it is. Rejects when the storage fails: the request has
   * nothing then.
   *
   * @param also whether the request has brought news of other requests that must be written, too
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
      // Its end says nothing of the account.
      if (lease !== undefined) lease.told = true;
      this.release(outcome.granted.lease);
      if (use !== undefined) this.uses.unserved(use.id, exclude.length === 0);
    }
  }

  /** Gives a slot back. False when the lease had ended already. */
  release(token: string): boolean {
    return this.#slots.release(token);
  }

  /** Prolongs a lease. False when it was reclaimed: the slot may be somebody else's. */
  renew(token: string): boolean {
    this.#slots.catchUp();
    const lease = this.#slots.leases.get(token);
    if (lease === undefined) return false;
    this.#slots.leases.renew(lease, this.#now());
    return true;
  }

  /**
   * Takes over a lease that was granted before a restart of the pool, and gives it a new name. Null when it has ended.
   * A name can be used for this once. `isolate` is whose beats will name it; empty: it is renewed by itself.
   */
  resume(token: string, account: string, holder: Holder, isolate = ""): string | null {
    const name = this.#slots.resume(token, account, holder, isolate);
    if (name !== null) this.#upkeep.hold();
    if (name !== null && holder.use !== undefined) this.#ledger.resumed(holder.use);
    return name;
  }

  /** Renews the leases of an isolate that have lived for a while: it names all of them. */
  beat(isolate: string, tokens: readonly string[], known?: number): Pulse {
    return this.#slots.beat(isolate, tokens, known);
  }

  /** See `Lease.token`. Asking is a sign of life: it renews the lease. */
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

  /** The answer, with whom it is for by now: what the lease was granted for may have changed since. */
  #meant({ lane: { provider } }: AccountState, answer: TokenAnswer): TokenAnswer {
    if ("failed" in answer) return answer;
    return {
      ...answer,
      ...(provider === "" ? {} : { provider }),
      ...(this.#configVersion === 0 ? {} : { configVersion: this.#configVersion }),
    };
  }

  /** See `Lease.signedIn`. The ticket alone counts: a sign-in is worth keeping although its lease has ended. */
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
   * A use of a lease's account failed. Requests granted before its last failure add nothing: one burst counts once. Returns
   * whether another account is well.
   */
  failed(token: string, failure: AccountFailure): boolean {
    this.#slots.catchUp();
    const lease = this.#slots.leases.get(token);
    if (lease === undefined) return false;
    this.#outcomes.failed(lease, failure);
    return this.#slots.othersAreHealthy(lease.state.lane, [lease.state.id]);
  }

  /** The account of a lease works. */
  succeeded(token: string): void {
    this.#slots.catchUp();
    const lease = this.#slots.leases.get(token);
    if (lease !== undefined) this.#outcomes.succeeded(lease);
  }

  /** Records the outcome of an account test. */
  setTestStatus(id: string, status: string): void {
    const state = this.#slots.accounts.get(id);
    if (state !== undefined) this.#tokens.setTestStatus(state, status);
  }

  /** Accounts whose token is older than the refresh interval and that can sign in. */
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

  /** The same, with what it takes to make one status of several pools'. */
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

  /** Reclaims what has expired, lowers the stored marks, and keeps what is known of the accounts' health. Returns when to call again (Unix milliseconds), or null. */
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
      // The storage fails: the next sweep does it.
    }
    return this.#upkeep.swept(isLeft);
  }

  /** The call that was asked for by `wakeAt` will not come. */
  sweepLost(): void {
    this.#upkeep.swept(false);
  }

  /** A request has been refused, or has left. */
  #unserved(request: AcquireRequest): void {
    const lane = this.#slots.lanes.of(request.provider);
    if (lane !== undefined) this.#trials.ended(lane, identityOf(request));
    this.#givenBack(request);
  }

  #givenBack({ use }: AcquireRequest): void {
    if (use !== undefined) this.#ledger.giveBack(use.id, this.#now());
  }

  /** While somebody waits a timer notices what no call would bring to light. */
  #reschedule(): void {
    this.#upkeep.wake(this.#slots.nextEvent);
  }

  #wake(): void {
    this.#slots.catchUp();
    this.#reschedule();
  }

  /** The pool has been idle for a while: without marks, a restart holds no slots back. */
  #settle(): void {
    this.#slots.reservations.clear();
    for (const state of [...this.#slots.accounts]) this.#slots.accounts.forget(state);
  }
}
