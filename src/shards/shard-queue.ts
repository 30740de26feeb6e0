import { silentPool } from "../errors/silent-pool.ts";
import type { AbortSignalLike } from "../http/light-abort-controller.ts";
import type { AcquireRequest } from "../platform/accounts.ts";
import { type Clock, inTime } from "../platform/clock.ts";
import { type AskedShards, askSoon, giveBackUnused, type Taken } from "./asked-shard.ts";

/** After how long a waiting request looks whether another shard has a free slot by now, milliseconds; then after twice as long. */
const LOOK_MS = 1_000;
/** The shard that it waits at is gone when it says nothing for so long then, milliseconds. */
const GONE_MS = 3_000;

/**
 * Waits in the queue of one shard. Now and then it looks whether another one has a free slot, and whether that one is still there.
 *
 * @param shards all that may be looked at, in their order
 * @param best the one whose queue it is
 * @param end until when it waits, Unix milliseconds
 * @returns what came of it. Rejects when the shard cannot be reached, or does not answer: 503 then.
 */
export async function waitAtShard(
  { ask, isThere }: AskedShards,
  clock: Clock,
  shards: readonly number[],
  best: number,
  request: AcquireRequest,
  signal: AbortSignalLike | undefined,
  end: number,
): Promise<Taken> {
  const left = Math.max(0, end - clock.now());
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  if (signal?.aborted) leave();
  signal?.addEventListener("abort", leave, { once: true });
  let over = false;
  let stop = () => {};
  const waiting = ask(best, { ...request, waitMs: left }, leaving.signal);
  const others = shards.filter((shard) => shard !== best);
  const { promise: found, resolve: find, reject: giveUp } = Promise.withResolvers<Taken>();
  const lookAt = async (shard: number | undefined) => {
    if (shard === undefined) return;
    const acquired = await askSoon(ask, clock, shard, request, leaving.signal);
    if (acquired !== null && "lease" in acquired) find([shard, acquired]);
  };
  const lookAtBest = async () => {
    if (
      (await inTime(
        isThere(best).then(() => true),
        GONE_MS,
        clock,
      )) === null
    )
      giveUp(silentPool("the account pool at which the request waits does not answer"));
  };
  const look = (turn: number, afterMs: number) => {
    // By a moment after the end it should have said that the time is over.
    const dueMs = LOOK_MS + Math.max(0, end - clock.now());
    stop = clock.setTimer(Math.min(afterMs, dueMs), () => {
      // Whoever waits where something fails is told so.
      void Promise.allSettled([lookAtBest(), lookAt(others[turn % others.length])]).then(() => {
        if (!over) look(turn + 1, 2 * afterMs);
      });
    });
  };
  look(0, LOOK_MS);
  const waited = waiting.then((acquired): Taken => [best, acquired]);
  let taken: Taken | null = null;
  try {
    taken = await Promise.race([waited, found]);
    return taken;
  } finally {
    over = true;
    // A slot that is granted beside it goes back.
    for (const spare of [waited, found])
      spare.then(
        (it) => {
          if (it !== taken) void giveBackUnused(it[1]);
        },
        () => undefined,
      );
    leave();
    stop();
    signal?.removeEventListener("abort", leave);
  }
}
