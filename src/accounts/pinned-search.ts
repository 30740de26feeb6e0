import type { Acquired, AcquireRequest } from "../platform/accounts.ts";
import { AGAIN_MS, type AskShard, giveBackUnused, type Taken } from "./asked-shard.ts";
import { type Clock, pause } from "./clock.ts";
import type { ShardMap } from "./shards.ts";

/** Whether a shard does not have the account that is wanted. */
function isUnknown(acquired: Acquired): boolean {
  return (
    "refused" in acquired && (acquired.refused === "target_not_found" || acquired.refused === "no_accounts")
  );
}

/** Finds the shard of one account that a request wants, by any of the account's names. */
export class PinnedSearch {
  readonly #ask: AskShard;
  readonly #clock: Clock;
  readonly #map: ShardMap;

  constructor(ask: AskShard, clock: Clock, map: ShardMap) {
    this.#ask = ask;
    this.#clock = clock;
    this.#map = map;
  }

  /** One account is wanted: its shard is asked, and all others if it does not know it by that name. */
  async slot(
    request: AcquireRequest,
    target: string,
    signal: AbortSignal | undefined,
    end: number,
  ): Promise<Taken> {
    const owner = this.#map.of(target);
    const others = this.#map.shards.map((_, shard) => shard).filter((shard) => shard !== owner);
    for (let round = 0; ; round += 1) {
      const left = () => Math.max(0, end - this.#clock.now());
      const first = await this.#ask(owner, { ...request, waitMs: left() }, signal);
      if (!isUnknown(first)) return [owner, first];
      const asked = await Promise.all(
        others.map(async (shard) => ({
          shard,
          acquired: await this.#ask(shard, { ...request, waitMs: 0 }, signal),
        })),
      );
      const known = asked.filter(({ acquired }) => !isUnknown(acquired));
      const granted = known.find(({ acquired }) => "lease" in acquired);
      for (const { acquired } of known) if (acquired !== granted?.acquired) void giveBackUnused(acquired);
      if (granted !== undefined) return [granted.shard, granted.acquired];
      const [there] = known;
      if (there !== undefined) {
        const waited = await this.#ask(there.shard, { ...request, waitMs: left() }, signal);
        if (!isUnknown(waited)) return [there.shard, waited];
      }
      // An account that moves may be unknown to both for a moment.
      if (round > 0 || left() === 0) {
        const all = [first, ...asked.map(({ acquired }) => acquired)];
        const telling = all.find((one) => "refused" in one && one.refused === "target_not_found");
        return [owner, telling ?? first];
      }
      await pause(AGAIN_MS, this.#clock);
    }
  }
}
