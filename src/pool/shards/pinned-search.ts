import { unresponsivePoolError } from "../../core/errors/unresponsive-pool.ts";
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
    signal: AbortSignal | undefined,
    end: number,
  ): Promise<ShardOutcome> {
    const owner = this.#map.of(target);
    const otherShards = this.#map.shards.map((_, shard) => shard).filter((shard) => shard !== owner);
    for (let round = 0; ; round += 1) {
      const failures: unknown[] = [];
      /** Null: the shard did not answer. */
      const nullOnFailure = (call: Promise<AcquireResult | null>) =>
        call.catch((error: unknown) => {
          failures.push(error);
          return null;
        });
      const ownerResult = await nullOnFailure(this.#acquireOrWait(owner, request, signal, end));
      if (ownerResult !== null && !lacksAccount(ownerResult)) return [owner, ownerResult];
      const results = await Promise.all(
        otherShards.map(async (shard) => {
          const call = acquireWithoutWaiting(this.#shards.acquire, this.#clock, shard, request, signal);
          return { shard, acquired: await nullOnFailure(call) };
        }),
      );
      const candidates = results.flatMap(({ shard, acquired }) =>
        acquired === null || lacksAccount(acquired) ? [] : [{ shard, acquired }],
      );
      const granted = candidates.find(({ acquired }) => "lease" in acquired);
      for (const { acquired } of candidates) if (acquired !== granted?.acquired) void releaseUnused(acquired);
      if (granted !== undefined) return [granted.shard, granted.acquired];
      const [candidate] = candidates;
      if (candidate !== undefined) {
        const result = await this.#acquireOrWait(candidate.shard, request, signal, end);
        if (result !== null && !lacksAccount(result)) return [candidate.shard, result];
      }
      const allResults = [ownerResult, ...results.map(({ acquired }) => acquired)];
      if (allResults.includes(null))
        throw unresponsivePoolError(
          `the account ${JSON.stringify(target)} may live in an account pool that does not answer`,
          failures[0],
        );
      // While an account moves, it may be unknown to both shards for a moment.
      if (round > 0 || this.#clock.now() >= end) {
        const answers = allResults.filter((result) => result !== null);
        const notFound = answers.find(
          (answer) => "refused" in answer && answer.refused === "target_not_found",
        );
        return [owner, notFound ?? answers[0] ?? { refused: "target_not_found" }];
      }
      await sleep(RETRY_MS, this.#clock);
    }
  }

  /** Acquires a slot at a shard, and waits there if all slots of the account are busy. Null: the shard did not answer. */
  async #acquireOrWait(
    shard: number,
    request: AcquireRequest,
    signal: AbortSignal | undefined,
    end: number,
  ): Promise<AcquireResult | null> {
    const atOnce = await acquireWithoutWaiting(this.#shards.acquire, this.#clock, shard, request, signal);
    if (atOnce === null || "lease" in atOnce || atOnce.refused !== "queue_timeout") return atOnce;
    if (this.#clock.now() >= end) return atOnce;
    const wait = { shard, checkedShards: [], request, signal, end, queue: atOnce.shared?.queue };
    const [, acquired] = await waitAtShard(this.#shards, this.#clock, wait);
    return acquired;
  }
}
