import type { AccountHealth, QueueStatus } from "../../../core/ports/account-status.ts";
import type {
  AcquireGrant,
  AcquireRefusal,
  AcquireRequest,
  AcquireResult,
  CountResult,
} from "../../../core/ports/accounts.ts";
import { sleep } from "../../../core/ports/clock.ts";
import type { PoolConfiguration } from "../../../core/ports/pool-configuration.ts";
import {
  type LimitedUse,
  listSubjects,
  type SpentAmounts,
  type SubjectUsage,
} from "../../../core/ports/subject-limits.ts";
import { POOL_CALL_PAUSES_MS } from "../../../core/retries/retry-policy.ts";
import type { IsolateReport, IsolateReportAnswer } from "../../../pool/isolate-reports.ts";
import { DEFAULT_WAIT_MS, HEARTBEAT_MS } from "../../../pool/leases/lease-timing.ts";
import { leaseHolderOf } from "../../../pool/leases/leases.ts";
import type { Grant } from "../../../pool/queue/grant.ts";
import { POOL_NAME } from "../../../pool/shards/pool-name.ts";
import { Heartbeat } from "./heartbeat.ts";
import type { ShardlessReport } from "./isolate-reporter.ts";
import type { ReportingAccountPool } from "./local-selection.ts";
import {
  callPool,
  type HolderClock,
  type LeaseStub,
  type PoolNamespace,
  type PoolStubFactory,
  SYSTEM_CLOCK,
} from "./pool-stub.ts";
import { type SettledUses, SettlementQueue } from "./settlement-queue.ts";
import { type LeaseContext, StubLease } from "./stub-lease.ts";

/**
 * If a grant took longer than this to arrive, the lease is checked early: little time is left for the answer to its first
 * heartbeat.
 */
const SLOW_GRANT_MS = HEARTBEAT_MS / 2;

/**
 * If a grant took longer than this to arrive, the lease is confirmed before use: no time is left to wait for a heartbeat's
 * answer.
 */
const STALE_GRANT_MS = HEARTBEAT_MS;

/** Time limit for confirming the lease of a request that waited for its slot. */
const CONFIRM_TIMEOUT_MS = 5_000;

/** Copies a refusal without the properties that RPC adds. */
export function copyRefusal({
  refused,
  failure,
  limit,
  limits,
  hasHealthyAccount,
  isFull,
  shared,
}: AcquireRefusal): AcquireRefusal {
  return {
    refused,
    ...(failure === undefined ? {} : { failure }),
    ...(limit === undefined ? {} : { limit }),
    ...(limits === undefined ? {} : { limits }),
    ...(hasHealthyAccount === undefined ? {} : { hasHealthyAccount }),
    ...(isFull === undefined ? {} : { isFull }),
    ...(shared === undefined ? {} : { shared }),
  };
}

function toAcquireGrant(lease: StubLease, { limits, configVersion, isBranch, shared }: Grant): AcquireGrant {
  return {
    lease,
    ...(isBranch === undefined ? {} : { isBranch }),
    ...(shared === undefined ? {} : { shared }),
    ...(limits === undefined ? {} : { limits }),
    ...(configVersion === undefined ? {} : { configVersion }),
  };
}

/** The account pool of a deployment on Workers: one Durable Object, reached by RPC. */
export class CloudflareAccountPool implements ReportingAccountPool {
  readonly #pool: PoolStubFactory;
  readonly #clock: HolderClock;
  readonly #leaseContext: LeaseContext;
  readonly #settlements: SettlementQueue;

  constructor(pool: PoolStubFactory, clock: HolderClock) {
    this.#pool = pool;
    this.#clock = clock;
    this.#leaseContext = { pool, clock, heartbeat: new Heartbeat(clock.now) };
    this.#settlements = new SettlementQueue(
      (settled) => callPool(pool, clock, (stub) => stub.settleUses(settled)),
      clock,
    );
  }

  async acquire(request: AcquireRequest, signal?: AbortSignal): Promise<AcquireResult> {
    const { waitMs } = request;
    const started = this.#clock.now();
    const deadline = started + (waitMs ?? DEFAULT_WAIT_MS);
    for (let attempt = 0; ; attempt += 1) {
      if (signal?.aborted) return { refused: "cancelled" };
      const remainingMs = Math.max(0, deadline - this.#clock.now());
      const acquired = await this.#acquireOnce(
        waitMs === undefined || attempt === 0 ? request : { ...request, waitMs: remainingMs },
        signal,
      );
      if (acquired !== null) return acquired;
      const ms = POOL_CALL_PAUSES_MS[Math.min(attempt, POOL_CALL_PAUSES_MS.length - 1)] ?? 0;
      if (this.#clock.now() + ms >= deadline) return { refused: "queue_timeout" };
      await sleep(ms, this.#clock);
    }
  }

  /** Null if the pool restarted meanwhile: then the request lost its place in the queue. */
  async #acquireOnce(
    request: AcquireRequest,
    signal: AbortSignal | undefined,
  ): Promise<AcquireResult | null> {
    let sentAt = this.#clock.now();
    const reply = await this.sendWithSettlements((settled) =>
      callPool(this.#pool, this.#clock, (pool) => {
        sentAt = this.#clock.now();
        return pool.acquire(request, settled);
      }),
    );
    if ("granted" in reply) {
      return this.#confirmGrant(
        this.#createLease(request, reply.granted, sentAt, reply.lease, reply),
        sentAt,
        reply.granted,
      );
    }
    if ("refused" in reply) return copyRefusal(reply);
    const { place, pending } = reply;
    const leaveQueue = () => place[Symbol.dispose]();
    // The request may have been cancelled while the pool looked for a slot.
    if (signal?.aborted) leaveQueue();
    signal?.addEventListener("abort", leaveQueue, { once: true });
    try {
      // `wait()` itself never fails. An error means that the Durable Object is gone.
      const outcome = await pending.wait().catch(() => null);
      if (outcome === null) return null;
      if ("refused" in outcome) return copyRefusal(outcome);
      if (signal?.aborted) {
        outcome[Symbol.dispose]();
        return { refused: "cancelled" };
      }
      const { granted, lease } = outcome;
      return await this.#confirmGrant(
        this.#createLease(request, granted, sentAt, lease, outcome),
        sentAt,
        granted,
      );
    } finally {
      signal?.removeEventListener("abort", leaveQueue);
      reply[Symbol.dispose]();
    }
  }

  #createLease(
    request: AcquireRequest,
    granted: Grant,
    sentAt: number,
    stub: LeaseStub,
    reply: Disposable,
  ): StubLease {
    const holder = leaseHolderOf(request, granted.shared?.slots !== undefined);
    return new StubLease(this.#leaseContext, granted, holder, sentAt, stub, reply);
  }

  /** Sends a message to the pool, together with the unreported usage of ended requests. */
  protected sendWithSettlements<T>(send: (settled: SettledUses) => Promise<T>): Promise<T> {
    return this.#settlements.sendWith(send);
  }

  /**
   * A grant that took long to arrive may come from a pool that has restarted since: it is valid only once the pool confirms
   * it.
   */
  async #confirmGrant(lease: StubLease, sentAt: number, granted: Grant): Promise<AcquireResult | null> {
    const transitMs = this.#clock.now() - sentAt;
    if (transitMs <= STALE_GRANT_MS) {
      if (transitMs > SLOW_GRANT_MS) lease.confirmEarly();
      return toAcquireGrant(lease, granted);
    }
    if (await lease.confirm(CONFIRM_TIMEOUT_MS)) return toAcquireGrant(lease, granted);
    lease.release();
    return null;
  }

  async countRequest(use: LimitedUse): Promise<CountResult> {
    await this.#settlements.flush();
    const result = await callPool(this.#pool, this.#clock, (pool) => pool.count(use));
    return "refused" in result ? copyRefusal(result) : { limits: result.limits };
  }

  async settleUsage(use: LimitedUse, spent: SpentAmounts): Promise<void> {
    // With a limit of parallel requests, a request in another isolate may wait for this one to end.
    const isParallelLimited = listSubjects(use).some(({ limits }) => (limits.max_parallel ?? 0) > 0);
    await this.#settlements.add(use.id, spent, isParallelLimited);
  }

  async listSubjectUsage(subject?: string): Promise<SubjectUsage[]> {
    await this.#settlements.flush();
    return callPool(this.#pool, this.#clock, (pool) => pool.listSubjectUsage(subject));
  }

  async getStatus(maxEntries?: number): Promise<QueueStatus> {
    return callPool(this.#pool, this.#clock, (pool) => pool.status(maxEntries));
  }

  async getHealth(ids?: readonly string[]): Promise<AccountHealth[]> {
    return callPool(this.#pool, this.#clock, (pool) => pool.health(ids));
  }

  async setTestStatus(id: string, status: string): Promise<void> {
    await callPool(this.#pool, this.#clock, (pool) => pool.setTestStatus(id, status));
  }

  async listTokensDueForRefresh(): Promise<string[]> {
    return callPool(this.#pool, this.#clock, (pool) => pool.tokensDueForRefresh());
  }

  /** Sends the report of this isolate about accounts without a limit. */
  report(report: IsolateReport): Promise<IsolateReportAnswer> {
    return callPool(this.#pool, this.#clock, (pool) => pool.report(report));
  }

  async sendReport(report: ShardlessReport): Promise<IsolateReportAnswer[]> {
    return [await this.report({ ...report, shard: 0 })];
  }

  async configure(configuration: PoolConfiguration): Promise<void> {
    await callPool(this.#pool, this.#clock, (pool) => pool.configure(configuration));
  }
}

/** The account pool behind the binding `ACCOUNT_POOL`. Create it once per isolate. */
export function createAccountPoolClient(
  env: { readonly ACCOUNT_POOL: PoolNamespace },
  clock: Partial<HolderClock> = {},
): ReportingAccountPool {
  const { ACCOUNT_POOL: pools } = env;
  return new CloudflareAccountPool(() => pools.getByName(POOL_NAME), { ...SYSTEM_CLOCK, ...clock });
}
