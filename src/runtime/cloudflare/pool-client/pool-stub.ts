import type { Region } from "../../../core/config/regions.ts";
import type { AccountHealth, QueueStatus } from "../../../core/ports/account-status.ts";
import type {
  AccountFailure,
  AcquireRefusal,
  AcquireRequest,
  CountResult,
  QuotaWindow,
  SignInResult,
  TokenResult,
} from "../../../core/ports/accounts.ts";
import { type Clock, monotonicNow, sleep, WALL_CLOCK } from "../../../core/ports/clock.ts";
import type { PoolConfiguration } from "../../../core/ports/pool-configuration.ts";
import type { LimitedUse, SubjectUsage } from "../../../core/ports/subject-limits.ts";
import { POOL_CALL_PAUSES_MS } from "../../../core/retries/retry-policy.ts";
import type { IsolateReport, IsolateReportAnswer } from "../../../pool/isolate-reports.ts";
import type { HeartbeatAnswer, LeaseHolder } from "../../../pool/leases/leases.ts";
import type { Grant } from "../../../pool/queue/grant.ts";
import type { ShardStatus } from "../../../pool/shards/shard-status.ts";
import type { SettledUses } from "./settlement-queue.ts";

/** A lease on the pool object, as RPC presents it. */
export interface LeaseStub extends Disposable {
  token(stale?: string): Promise<TokenResult>;
  signedIn(ticket: string, result: SignInResult): Promise<void>;
  signInFailed(ticket: string, failure: AccountFailure): Promise<void>;
  succeeded(): Promise<void>;
  failed(failure: AccountFailure): Promise<boolean>;
  quota(windows: readonly QuotaWindow[]): Promise<void>;
}

export interface GrantReply extends Disposable {
  readonly granted: Grant;
  readonly lease: LeaseStub;
}

export interface QueuedReply extends Disposable {
  readonly place: Disposable;
  readonly pending: { wait(): Promise<GrantReply | AcquireRefusal> };
}

export interface ResumedReply extends Disposable {
  readonly name: string;
  readonly lease: LeaseStub;
}

/** The pool object, as RPC presents it. */
export interface PoolStub {
  acquire(request: AcquireRequest, settled: SettledUses): Promise<GrantReply | AcquireRefusal | QueuedReply>;
  beat(isolate: string, leases: readonly string[], known: number): Promise<HeartbeatAnswer>;
  resume(lease: string, account: string, holder: LeaseHolder, isolate: string): Promise<ResumedReply | null>;
  report(report: IsolateReport): Promise<IsolateReportAnswer>;
  count(use: LimitedUse): Promise<CountResult>;
  settleUses(settled: SettledUses): Promise<void>;
  listSubjectUsage(key?: string): Promise<SubjectUsage[]>;
  status(maxEntries?: number): Promise<QueueStatus>;
  health(ids?: readonly string[]): Promise<AccountHealth[]>;
  setTestStatus(id: string, status: string): Promise<void>;
  tokensDueForRefresh(): Promise<string[]>;
  configure(configuration: PoolConfiguration): Promise<void>;
}

/** The pool object of a deployment with several shards, as RPC presents it. */
export interface ShardStub extends PoolStub {
  shardStatus(maxEntries?: number): Promise<ShardStatus>;
  hasHealthyAccount(provider?: string): Promise<boolean>;
  reserveUse(use: LimitedUse, settled: SettledUses): Promise<CountResult>;
  startUse(use: LimitedUse): Promise<CountResult>;
  renewUse(use: string): Promise<void>;
  cancelUse(use: string, isNew: boolean): Promise<void>;
}

/** A namespace of Durable Objects that gives stubs of pool objects. */
export interface PoolNamespace<Stub extends PoolStub = PoolStub> {
  getByName(name: string, options?: { readonly locationHint?: Region }): Stub;
}

/** Gives a new stub of one pool object. */
export type PoolStubFactory<Stub extends PoolStub = PoolStub> = () => Stub;

/** What the holder of a lease needs from its isolate. */
export interface HolderClock extends Clock {
  /** Monotonic milliseconds, not Unix time. */
  readonly now: () => number;
  /** Lets work continue after its request has ended. */
  readonly waitUntil: (work: Promise<unknown>) => void;
}

export const SYSTEM_CLOCK: HolderClock = {
  ...WALL_CLOCK,
  now: monotonicNow,
  waitUntil: () => {},
};

/** Whether the runtime reports that the object restarted or moved, so that a new stub may reach it. */
function isRetryable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const overloaded = "overloaded" in error && error.overloaded === true;
  return !overloaded && (("retryable" in error && error.retryable === true) || "durableObjectReset" in error);
}

/** Calls the pool with a new stub. Retries if the pool restarted during the call. */
export async function callPool<T, Stub extends PoolStub>(
  pool: PoolStubFactory<Stub>,
  clock: HolderClock,
  call: (pool: Stub) => Promise<T>,
): Promise<T> {
  for (const ms of POOL_CALL_PAUSES_MS) {
    try {
      return await call(pool());
    } catch (error) {
      if (!isRetryable(error)) throw error;
      await sleep(ms, clock);
    }
  }
  return call(pool());
}
