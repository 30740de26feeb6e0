import type { AccountHealth, QueueStatus } from "../core/ports/account-status.ts";
import type {
  AccountFailure,
  AccountPoolClient,
  AcquireRequest,
  AcquireResult,
  CountResult,
  Lease,
  LeasedAccount,
  QuotaWindow,
  SignInResult,
  TokenResult,
} from "../core/ports/accounts.ts";
import { monotonicNow, WALL_CLOCK } from "../core/ports/clock.ts";
import type { PoolConfiguration } from "../core/ports/pool-configuration.ts";
import type { LimitedUse, SpentAmounts, SubjectUsage } from "../core/ports/subject-limits.ts";
import type { UseStore } from "./limits/use-store.ts";
import { AccountPool } from "./pool.ts";
import type { AcquireOutcome, Grant } from "./queue/grant.ts";
import { Waiter } from "./queue/waiter.ts";
import type { PoolStore } from "./storage/pool-store.ts";

/** A lease of a pool in the same process. */
class InProcessLease implements Lease {
  readonly account: LeasedAccount;
  readonly initialToken: string | null;
  readonly #pool: AccountPool;
  readonly #lease: string;
  /** Whether a success must be reported. */
  #failing: boolean;

  constructor(pool: AccountPool, grant: Grant) {
    this.#pool = pool;
    this.#lease = grant.lease;
    this.#failing = grant.failing;
    this.account = grant.account;
    this.initialToken = grant.token;
  }

  async getToken(stale?: string): Promise<TokenResult> {
    return this.#pool.token(this.#lease, stale);
  }

  async completeSignIn(ticket: string, result: SignInResult): Promise<void> {
    this.#pool.signedIn(this.account.id, ticket, result);
  }

  async failSignIn(ticket: string, failure: AccountFailure): Promise<void> {
    this.#failing = true;
    this.#pool.signInFailed(this.account.id, ticket, failure);
  }

  async renew(): Promise<boolean> {
    return this.#pool.renew(this.#lease);
  }

  async reportSuccess(): Promise<void> {
    if (!this.#failing) return;
    this.#failing = false;
    this.#pool.succeeded(this.#lease);
  }

  async reportFailure(failure: AccountFailure): Promise<boolean> {
    this.#failing = true;
    return this.#pool.failed(this.#lease, failure);
  }

  async reportQuota(windows: readonly QuotaWindow[]): Promise<void> {
    this.#pool.recordQuota(this.#lease, windows);
  }

  release(): void {
    this.#pool.release(this.#lease);
  }

  [Symbol.dispose](): void {
    this.release();
  }
}

/** Pool client for a single process: callers and pool rules share memory. */
export class InProcessAccountPool implements AccountPoolClient {
  readonly #pool: AccountPool;

  constructor(pool: AccountPool) {
    this.#pool = pool;
  }

  async acquire(request: AcquireRequest, signal?: AbortSignal): Promise<AcquireResult> {
    if (signal?.aborted) return { refused: "cancelled" };
    const first = this.#pool.acquire(request);
    const stored = this.#pool.confirmStored(request, first);
    if (stored !== null) await stored;
    const outcome = first instanceof Waiter ? await this.#wait(request, first, signal) : first;
    if (!("granted" in outcome)) return outcome;
    const { granted } = outcome;
    const { limits, configVersion, isBranch } = granted;
    return {
      lease: new InProcessLease(this.#pool, granted),
      ...(isBranch === undefined ? {} : { isBranch }),
      ...(limits === undefined ? {} : { limits }),
      ...(configVersion === undefined ? {} : { configVersion }),
    };
  }

  /** Waits for the outcome; the wait ends when the caller disconnects. */
  async #wait(
    request: AcquireRequest,
    waiter: Waiter,
    signal: AbortSignal | undefined,
  ): Promise<AcquireOutcome> {
    const cancel = () => waiter.cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      // The caller may have disconnected while its use was stored.
      if (signal?.aborted) cancel();
      const outcome = await waiter.settled;
      await this.#pool.confirmStored(request, outcome);
      if (!signal?.aborted) return outcome;
      cancel();
      return { refused: "cancelled" };
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  async countRequest(use: LimitedUse): Promise<CountResult> {
    const result = this.#pool.limitedRequests.count(use);
    await this.#pool.limitedRequests.whenStored();
    return result;
  }

  async settleUsage({ id }: LimitedUse, spent: SpentAmounts): Promise<void> {
    this.#pool.limitedRequests.settle(id, spent);
    // Written immediately, so that killing the process after the answer does not lose it.
    this.#pool.limitedRequests.writeNow();
  }

  async listSubjectUsage(subject?: string): Promise<SubjectUsage[]> {
    return this.#pool.limitedRequests.listSubjectUses(subject);
  }

  async getStatus(maxEntries?: number): Promise<QueueStatus> {
    return this.#pool.status(maxEntries);
  }

  async getHealth(ids?: readonly string[]): Promise<AccountHealth[]> {
    return this.#pool.health(ids);
  }

  async setTestStatus(id: string, status: string): Promise<void> {
    this.#pool.setTestStatus(id, status);
  }

  async listTokensDueForRefresh(): Promise<string[]> {
    return this.#pool.tokensDueForRefresh();
  }

  async configure(configuration: PoolConfiguration): Promise<void> {
    this.#pool.configure(configuration);
  }
}

/** Creates a pool in this process, with the process's clock and timers. It refuses all requests until it is configured. */
export function createInProcessPool(store: PoolStore, uses?: UseStore): InProcessAccountPool {
  const wakeAt = (at: number): void => {
    WALL_CLOCK.setTimer(Math.max(0, at - Date.now()), () => {
      const next = pool.sweep();
      if (next !== null) wakeAt(next);
    });
  };
  // All holders of leases end with the process that granted them.
  const pool = new AccountPool({
    store,
    ...(uses === undefined ? {} : { uses }),
    boot: crypto.randomUUID(),
    holdersShareProcess: true,
    ...WALL_CLOCK,
    monotonicNow,
    wakeAt,
  });
  return new InProcessAccountPool(pool);
}
