import type { AbortSignalLike } from "../http/light-abort-controller.ts";
import type { AccountFailure, Acquired, AcquireRequest } from "../platform/accounts.ts";
import { type Clock, inTime } from "../platform/clock.ts";

/** Acquires a slot at a shard, by the shard's number. */
export type AskShard = (
  shard: number,
  request: AcquireRequest,
  signal: AbortSignalLike | undefined,
) => Promise<Acquired>;

/** Access to all shards, by number. */
export interface AskedShards {
  readonly ask: AskShard;
  /** Resolves or rejects as soon as the shard answers anything. */
  readonly isThere: (shard: number) => Promise<unknown>;
}

/** The outcome of a request, and the number of the shard. */
export type Taken = readonly [shard: number, acquired: Acquired];

/** A shard that does not answer within this time is skipped, milliseconds. */
export const SILENT_MS = 1_500;
/**
 * Delay before a request is repeated that no shard has room for, milliseconds: shares of limits or accounts may be about to
 * arrive.
 */
export const AGAIN_MS = 100;

/**
 * Acquires a slot at a shard without waiting in its queue. Null: the shard did not answer in time; a slot that it grants
 * later is released.
 */
export async function askSoon(
  ask: AskShard,
  clock: Clock,
  shard: number,
  request: AcquireRequest,
  signal: AbortSignalLike | undefined,
): Promise<Acquired | null> {
  const asking = ask(shard, { ...request, waitMs: 0, passing: true }, signal);
  const answer = await inTime(asking, SILENT_MS, clock);
  if (answer === null) void asking.then(giveBackUnused, () => undefined);
  return answer;
}

/** Releases an unused slot without counting a success of its account. */
export async function giveBackUnused(acquired: Acquired): Promise<void> {
  if (!("lease" in acquired)) return;
  const { lease } = acquired;
  await lease.failed(UNUSED).catch(() => false);
  lease.release();
}

const UNUSED: AccountFailure = {
  kind: "unreachable",
  message: "the slot was not needed",
  status: 0,
  fault: null,
  retryAfter: null,
};
