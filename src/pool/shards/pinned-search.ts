import { unresponsivePoolError } from "../../core/errors/unresponsive-pool.ts";
import type { AbortSignalLike } from "../../core/http/light-abort-controller.ts";
import type { AcquireRequest, AcquireResult } from "../../core/ports/accounts.ts";
import { type Clock, sleep } from "../../core/ports/clock.ts";
import {
  acquireWithoutWaiting,
  RETRY_MS,
  releaseUnused,
  type ShardAccess,
  type ShardOutcome,
} from "./shard-access.ts";
import type { ShardMap } from "./shard-map.ts";
import { waitAtShard } from "./shard-queue.ts";

/** Whether a shard does not have the requested account. */
function lacksAccount(acquired: AcquireResult): boolean {
  return (
    "refused" in acquired && (acquired.refused === "target_not_found" || acquired.refused === "no_accounts")
  );
}

/** Finds the shard of the account that a request is pinned to, by any of the account's names. */
export class PinnedSearch {
  readonly #shards: ShardAccess;
  readonly #clock: Clock;
  readonly #map: ShardMap;

  constructor(shards: ShardAccess, clock: Clock, map: ShardMap) {
    this.#shards = shards;
    this.#clock = clock;
    this.#map = map;
  }

  /**
   * Asks the shard of the account, and all others if that shard does not know the name. Rejects (503) when no shard knows
   * the account and not all have answered.
   */
  async findSlot(
    request: AcquireRequest,
    target: string,
    signal: AbortSignalLike | undefined,
    end: number,
  ): Promise<ShardOutcome> {
    const owner = this.#map.of(target);
    const others = this.#map.shards.map((_, shard) => shard).filter((shard) => shard !== owner);
    for (let round = 0; ; round += 1) {
      const silent: unknown[] = [];
      /** Null: the shard did not answer. */
      const heard = (asking: Promise<AcquireResult | null>) =>
        asking.catch((error: unknown) => {
          silent.push(error);
          return null;
        });
      const wait = async (shard: number) => {
        const [, acquired] = await waitAtShard(this.#shards, this.#clock, [], shard, request, signal, end);
        return acquired;
      };
      const first = await heard(wait(owner));
      if (first !== null && !lacksAccount(first)) return [owner, first];
      const asked = await Promise.all(
        others.map(async (shard) => {
          const asking = acquireWithoutWaiting(this.#shards.acquire, this.#clock, shard, request, signal);
          return { shard, acquired: await heard(asking) };
        }),
      );
      const known = asked.flatMap(({ shard, acquired }) =>
        acquired === null || lacksAccount(acquired) ? [] : [{ shard, acquired }],
      );
      const granted = known.find(({ acquired }) => "lease" in acquired);
      for (const { acquired } of known) if (acquired !== granted?.acquired) void releaseUnused(acquired);
      if (granted !== undefined) return [granted.shard, granted.acquired];
      const [there] = known;
      if (there !== undefined) {
        const waited = await wait(there.shard);
        if (!lacksAccount(waited)) return [there.shard, waited];
      }
      const all = [first, ...asked.map(({ acquired }) => acquired)];
      if (all.includes(null))
        throw unresponsivePoolError(
          `the account ${JSON.stringify(target)} may live in an account pool that does not answer`,
          silent[0],
        );
      // While an account moves, it may be unknown to both shards for a moment.
      if (round > 0 || this.#clock.now() >= end) {
        const answers = all.filter((one) => one !== null);
        const telling = answers.find((one) => "refused" in one && one.refused === "target_not_found");
        return [owner, telling ?? answers[0] ?? { refused: "target_not_found" }];
      }
      await sleep(RETRY_MS, this.#clock);
    }
  }
}
