import { unresponsivePoolError } from "../../core/errors/unresponsive-pool.ts";
import type { AbortSignalLike } from "../../core/http/light-abort-controller.ts";
import type { AcquireRequest } from "../../core/ports/accounts.ts";
import { type Clock, withTimeout } from "../../core/ports/clock.ts";
import { acquireWithoutWaiting, releaseUnused, type ShardAccess, type ShardOutcome } from "./shard-access.ts";

/** Delay before a waiting request first checks another shard for a free slot, milliseconds; it doubles after each check. */
const FIRST_CHECK_MS = 1_000;
/** The shard that the request waits at counts as gone when it does not answer a ping within this time, milliseconds. */
const PING_TIMEOUT_MS = 3_000;

/**
 * Waits in the queue of one shard. At intervals it checks whether another shard has a free slot, and whether the shard that
 * it waits at still answers.
 *
 * @param shards all shards that may be checked, in order
 * @param best the shard whose queue the request joins
 * @param end until when it waits, Unix milliseconds
 * @returns the outcome. Rejects when the shard cannot be reached or does not answer (503).
 */
export async function waitAtShard(
  { acquire, ping }: ShardAccess,
  clock: Clock,
  shards: readonly number[],
  best: number,
  request: AcquireRequest,
  signal: AbortSignalLike | undefined,
  end: number,
): Promise<ShardOutcome> {
  const left = Math.max(0, end - clock.now());
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  if (signal?.aborted) leave();
  signal?.addEventListener("abort", leave, { once: true });
  let over = false;
  let stop = () => {};
  const waiting = acquire(best, { ...request, waitMs: left }, leaving.signal);
  const others = shards.filter((shard) => shard !== best);
  const { promise: found, resolve: find, reject: giveUp } = Promise.withResolvers<ShardOutcome>();
  const lookAt = async (shard: number | undefined) => {
    if (shard === undefined) return;
    const acquired = await acquireWithoutWaiting(acquire, clock, shard, request, leaving.signal);
    if (acquired !== null && "lease" in acquired) find([shard, acquired]);
  };
  const lookAtBest = async () => {
    if (
      (await withTimeout(
        ping(best).then(() => true),
        PING_TIMEOUT_MS,
        clock,
      )) === null
    )
      giveUp(unresponsivePoolError("the account pool at which the request waits does not answer"));
  };
  const look = (turn: number, afterMs: number) => {
    // Shortly after the end of the wait the shard should have reported the timeout, so it is checked then.
    const dueMs = FIRST_CHECK_MS + Math.max(0, end - clock.now());
    stop = clock.setTimer(Math.min(afterMs, dueMs), () => {
      // The wait itself reports failures of the shard that it waits at.
      void Promise.allSettled([lookAtBest(), lookAt(others[turn % others.length])]).then(() => {
        if (!over) look(turn + 1, 2 * afterMs);
      });
    });
  };
  look(0, FIRST_CHECK_MS);
  const waited = waiting.then((acquired): ShardOutcome => [best, acquired]);
  let taken: ShardOutcome | null = null;
  try {
    taken = await Promise.race([waited, found]);
    return taken;
  } finally {
    over = true;
    // A slot that another shard grants at the same time is released.
    for (const spare of [waited, found])
      spare.then(
        (it) => {
          if (it !== taken) void releaseUnused(it[1]);
        },
        () => undefined,
      );
    leave();
    stop();
    signal?.removeEventListener("abort", leave);
  }
}
