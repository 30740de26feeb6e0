import type { AcquireRequest } from "../platform/accounts.ts";
import { type AskShard, giveBackUnused, type Taken } from "./asked-shard.ts";
import type { Clock } from "./clock.ts";

/** After how long a waiting request looks whether another shard has a free slot by now, milliseconds; then after twice as long. */
const LOOK_MS = 1_000;

/**
 * Waits in the queue of one shard, and looks now and then whether another one has a free slot.
 *
 * @param shards all that may be looked at, in their order
 * @param best the one whose queue it is
 * @param end until when it waits, Unix milliseconds
 */
export async function waitAtShard(
  ask: AskShard,
  clock: Clock,
  shards: readonly number[],
  best: number,
  request: AcquireRequest,
  signal: AbortSignal | undefined,
  end: number,
): Promise<Taken> {
  const left = Math.max(0, end - clock.now());
  const leaving = new AbortController();
  const leave = () => leaving.abort();
  signal?.addEventListener("abort", leave, { once: true });
  let over = false;
  let stop = () => {};
  const waiting = ask(best, { ...request, waitMs: left }, leaving.signal);
  const others = shards.filter((shard) => shard !== best);
  const { promise: found, resolve: find } = Promise.withResolvers<Taken>();
  const look = (turn: number, afterMs: number) => {
    const shard = others[turn % others.length];
    if (shard === undefined) return;
    stop = clock.setTimer(afterMs, () => {
      ask(shard, { ...request, waitMs: 0 }, leaving.signal).then(
        (acquired) => {
          if ("lease" in acquired) find([shard, acquired]);
          else if (!over) look(turn + 1, 2 * afterMs);
        },
        () => {
          if (!over) look(turn + 1, 2 * afterMs);
        },
      );
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
