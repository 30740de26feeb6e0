import { unresponsivePoolError } from "../../core/errors/unresponsive-pool.ts";
import { eitherSignal } from "../../core/http/abort-signals.ts";
import type { AcquireRequest } from "../../core/ports/accounts.ts";
import { type Clock, withTimeout } from "../../core/ports/clock.ts";
import { acquireWithoutWaiting, releaseUnused, type ShardAccess, type ShardOutcome } from "./shard-access.ts";

/** Delay before a waiting request first checks another shard for a free slot, milliseconds; it doubles after each check. */
const FIRST_CHECK_MS = 1_000;
/** The shard that the request waits at counts as gone when it does not answer a ping within this time, milliseconds. */
const PING_TIMEOUT_MS = 3_000;

/** How a request waits at a shard. */
export interface ShardWait {
  /** The shard whose queue the request joins. */
  readonly shard: number;
  /** The shards that are checked meanwhile, in order. `shard` itself is not. */
  readonly checkedShards: readonly number[];
  readonly request: AcquireRequest;
  readonly signal: AbortSignal | undefined;
  /** Until when it waits, Unix milliseconds. */
  readonly end: number;
  /** See `ShardAccess.wait`. */
  readonly queue: string | undefined;
}

/**
 * Waits in the queue of one shard. At intervals it checks whether another shard has a free slot, and whether the shard that
 * it waits at still answers.
 *
 * @returns the outcome. Rejects when the shard cannot be reached or does not answer (503).
 */
export async function waitAtShard(
  { acquire, wait, ping }: ShardAccess,
  clock: Clock,
  { shard: ownShard, checkedShards, request, signal, end, queue }: ShardWait,
): Promise<ShardOutcome> {
  const remainingMs = Math.max(0, end - clock.now());
  const waitAbort = new AbortController();
  const waitSignal = eitherSignal(signal, waitAbort.signal);
  let isSettled = false;
  let stopTimer = () => {};
  const waiting = wait(ownShard, { ...request, waitMs: remainingMs }, waitSignal, queue);
  const otherShards = checkedShards.filter((shard) => shard !== ownShard);
  const {
    promise: otherOutcome,
    resolve: resolveOther,
    reject: rejectOther,
  } = Promise.withResolvers<ShardOutcome>();
  const checkShard = async (shard: number | undefined) => {
    if (shard === undefined) return;
    const acquired = await acquireWithoutWaiting(acquire, clock, shard, request, waitSignal);
    if (acquired !== null && "lease" in acquired) resolveOther([shard, acquired]);
  };
  const pingShard = async () => {
    if (
      (await withTimeout(
        ping(ownShard).then(() => true),
        PING_TIMEOUT_MS,
        clock,
      )) === null
    )
      rejectOther(unresponsivePoolError("the account pool at which the request waits does not answer"));
  };
  const scheduleCheck = (round: number, afterMs: number) => {
    // Shortly after the end of the wait the shard should have reported the timeout, so it is checked then.
    const dueMs = FIRST_CHECK_MS + Math.max(0, end - clock.now());
    stopTimer = clock.setTimer(Math.min(afterMs, dueMs), () => {
      // The wait itself reports failures of the shard that it waits at.
      void Promise.allSettled([pingShard(), checkShard(otherShards[round % otherShards.length])]).then(() => {
        if (!isSettled) scheduleCheck(round + 1, 2 * afterMs);
      });
    });
  };
  scheduleCheck(0, FIRST_CHECK_MS);
  const queueOutcome = waiting.then((acquired): ShardOutcome => [ownShard, acquired]);
  let winner: ShardOutcome | null = null;
  try {
    winner = await Promise.race([queueOutcome, otherOutcome]);
    return winner;
  } finally {
    isSettled = true;
    // A slot that another shard grants at the same time is released.
    for (const candidate of [queueOutcome, otherOutcome])
      candidate.then(
        (outcome) => {
          if (outcome !== winner) void releaseUnused(outcome[1]);
        },
        () => undefined,
      );
    waitAbort.abort();
    stopTimer();
  }
}
