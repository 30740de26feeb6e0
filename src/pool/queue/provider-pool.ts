import type { AcquireRequest } from "../../core/ports/accounts.ts";
import type { AccountState } from "../accounts/account-state.ts";
import { ProviderBreaker } from "../health/provider-breaker.ts";
import type { ProviderRecord } from "../health/provider-record.ts";
import { createPick } from "../selection/account-selection.ts";
import { ConversationAffinity } from "../selection/conversation-affinity.ts";
import { Rotation } from "../selection/rotation.ts";
import { FairQueue } from "./fair-queue.ts";
import { FairShares } from "./fair-shares.ts";
import type { Waiter } from "./waiter.ts";

/**
 * The accounts of one provider with their rotation, waiting requests, fair shares and circuit breaker. Requests for
 * different providers share only the global slot limit.
 */
export class ProviderPool {
  /** Empty: the default provider. */
  readonly provider: string;
  readonly rotation = new Rotation();
  readonly conversations = new ConversationAffinity();
  readonly fairShares = new FairShares();
  readonly queue = new FairQueue(this.fairShares, (request, exclude) => this.selectAccount(request, exclude));
  readonly breaker = new ProviderBreaker();
  /** Until when an account may be without quota for a model, Unix milliseconds. */
  modelQuotasUntil = 0;
  /** Requests that wait outside of the queue, in the order in which they were moved there. */
  readonly heldRequests = new Set<Waiter>();
  /** Guards against reentry while the held requests are being resumed. */
  isResumingHeld = false;
  /** Number of its configured accounts. */
  configuredAccounts = 0;
  /** Number of its enabled accounts. */
  enabledAccounts = 0;

  readonly #now: () => number;

  constructor(provider: string, now: () => number) {
    this.provider = provider;
    this.#now = now;
  }

  /** Selects an available account for a request, see `Rotation.pickAccount`. */
  selectAccount(request: AcquireRequest, exclude: ReadonlySet<string> | null): AccountState | null {
    const { selection, healthyOnly } = request;
    const unavailable = this.#withoutModelQuota(request.model, exclude);
    const account = this.conversations.findConversationAccount(selection, this.#now());
    if (account !== null && this.rotation.isReady(account) && unavailable?.has(account.id) !== true)
      return account;
    return this.rotation.pickAccount(unavailable, healthyOnly, createPick(selection));
  }

  /** Adds the accounts whose quota of a model is exhausted to the excluded ones, if healthy others remain. */
  #withoutModelQuota(model: string, exclude: ReadonlySet<string> | null): ReadonlySet<string> | null {
    if (this.modelQuotasUntil <= this.#now()) return exclude;
    const exhausted = [...this.conversations.accounts.values()].filter(
      ({ modelQuotaResets }) => (modelQuotaResets.get(model) ?? 0) > this.#now(),
    );
    if (exhausted.length === 0) return exclude;
    const unavailable = new Set([...(exclude ?? []), ...exhausted.map(({ id }) => id)]);
    return this.rotation.countHealthyExcept(unavailable) > 0 ? unavailable : exclude;
  }

  /**
   * The account that a continued conversation waits for because its prompts are in a cache there: healthy, but busy with
   * other conversations. Null: the request does not wait for a certain account.
   */
  findAwaitedAccount(
    { selection, model }: AcquireRequest,
    exclude: ReadonlySet<string> | null,
  ): AccountState | null {
    const { conversation, waitMs = 0 } = selection ?? {};
    if (conversation === undefined || waitMs <= 0 || this.conversations.isRunning(conversation)) return null;
    const account = this.conversations.findConversationAccount(selection, this.#now());
    if (account === null || !account.isHealthy || this.rotation.isReady(account)) return null;
    return this.#withoutModelQuota(model, exclude)?.has(account.id) === true ? null : account;
  }

  /** How its requests have ended. */
  readHealth(now: number): ProviderRecord {
    return this.breaker.readRecord(this.provider, now);
  }

  /** Number of waiting requests. */
  get waitingCount(): number {
    return this.queue.size + this.heldRequests.size;
  }

  /** Waiting requests in order of arrival. */
  waiters(): Waiter[] {
    const queued = this.queue.list();
    if (this.heldRequests.size === 0) return queued;
    return [...queued, ...this.heldRequests].sort((a, b) => a.serial - b.serial);
  }

  /** Whether its accounts may have any number of requests at once. */
  get isUnlimited(): boolean {
    return this.rotation.perAccount === Number.POSITIVE_INFINITY;
  }

  /** Slots of all its accounts together, if they have a limit. */
  get totalSlots(): number {
    return this.configuredAccounts * this.rotation.perAccount;
  }
}

/** The pools of all providers. The pool of the default provider always exists. */
export class ProviderPools {
  readonly defaultPool: ProviderPool;
  readonly #byProvider: Map<string, ProviderPool>;
  readonly #now: () => number;
  #all: readonly ProviderPool[];

  constructor(now: () => number) {
    this.#now = now;
    this.defaultPool = new ProviderPool("", now);
    this.#byProvider = new Map([["", this.defaultPool]]);
    this.#all = [this.defaultPool];
  }

  /** The pool of a provider; undefined for a provider that has never had an account. */
  get(provider: string | undefined): ProviderPool | undefined {
    return provider === undefined ? this.defaultPool : this.#byProvider.get(provider);
  }

  /** Like {@link get}, but creates a missing pool. */
  getOrCreate(provider: string): ProviderPool {
    let providerPool = this.#byProvider.get(provider);
    if (providerPool === undefined) {
      providerPool = new ProviderPool(provider, this.#now);
      this.#byProvider.set(provider, providerPool);
      this.#all = [...this.#byProvider.values()];
    }
    return providerPool;
  }

  /** The pool of an account or a waiting request. */
  of({ provider }: { readonly provider: string }): ProviderPool {
    return this.getOrCreate(provider);
  }

  get all(): readonly ProviderPool[] {
    return this.#all;
  }

  /** Number of waiting requests. */
  get waitingCount(): number {
    let waiting = 0;
    for (const providerPool of this.#all) waiting += providerPool.waitingCount;
    return waiting;
  }

  /** Waiting requests in order of arrival. */
  waiters(): Waiter[] {
    if (this.#all.length === 1) return this.defaultPool.waiters();
    return this.#all.flatMap((providerPool) => providerPool.waiters()).sort((a, b) => a.serial - b.serial);
  }

  /**
   * Among the requests that can run now, the one that arrived first, with its provider's pool.
   *
   * @param mayRun whether the global limit allows the next request of a provider
   */
  nextRunnable(mayRun: (providerPool: ProviderPool, waiter: Waiter) => boolean): {
    readonly providerPool: ProviderPool;
    readonly next: NonNullable<ReturnType<FairQueue["next"]>>;
  } | null {
    let first: ReturnType<ProviderPools["nextRunnable"]> = null;
    for (const providerPool of this.#all) {
      if (providerPool.queue.size === 0) continue;
      const next = providerPool.queue.next(providerPool.rotation);
      if (next === null || !mayRun(providerPool, next.waiter)) continue;
      if (first === null || next.waiter.serial < first.next.waiter.serial) {
        first = { providerPool, next };
      }
    }
    return first;
  }
}
