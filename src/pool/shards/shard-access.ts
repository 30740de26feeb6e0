import type { AccountFailure, AcquireRequest, AcquireResult } from "../../core/ports/accounts.ts";
import { type Clock, withTimeout } from "../../core/ports/clock.ts";

/** Acquires a slot at a shard, by the shard's number. */
export type AcquireAtShard = (
  shard: number,
  request: AcquireRequest,
  signal: AbortSignal | undefined,
) => Promise<AcquireResult>;

/** Access to all shards, by number. */
export interface ShardAccess {
  readonly acquire: AcquireAtShard;
  /**
   * Waits at a shard.
   *
   * @param queue the shared queue of all shards in which the request waits meanwhile; undefined: there is none
   */
  readonly wait: (
    shard: number,
    request: AcquireRequest,
    signal: AbortSignal | undefined,
    queue: string | undefined,
  ) => Promise<AcquireResult>;
  /** Resolves or rejects as soon as the shard answers anything. */
  readonly ping: (shard: number) => Promise<unknown>;
}

/** The outcome of a request, and the number of the shard. */
export type ShardOutcome = readonly [shard: number, acquired: AcquireResult];

/** A shard that does not answer within this time is skipped, milliseconds. */
export const SHARD_TIMEOUT_MS = 1_500;
/** Delay before a request is repeated that no shard has room for, milliseconds: accounts may be about to arrive. */
export const RETRY_MS = 100;

/**
 * Acquires a slot at a shard without waiting in its queue, except for the account of the request's conversation. Null: the
 * shard did not answer in time; a slot that it grants later is released.
 */
export async function acquireWithoutWaiting(
  acquire: AcquireAtShard,
  clock: Clock,
  shard: number,
  request: AcquireRequest,
  signal: AbortSignal | undefined,
): Promise<AcquireResult | null> {
  const call = acquire(shard, { ...request, waitMs: 0 }, signal);
  const result = await withTimeout(call, SHARD_TIMEOUT_MS + (request.selection?.waitMs ?? 0), clock);
  if (result === null) void call.then(releaseUnused, () => undefined);
  return result;
}

/** Releases an unused slot without counting a success of its account. */
export async function releaseUnused(acquired: AcquireResult): Promise<void> {
  if (!("lease" in acquired)) return;
  const { lease } = acquired;
  await lease.reportFailure(UNUSED_SLOT).catch(() => false);
  lease.release();
}

const UNUSED_SLOT: AccountFailure = {
  kind: "unreachable",
  message: "the slot was not needed",
  status: 0,
  fault: null,
  retryAfter: null,
};
