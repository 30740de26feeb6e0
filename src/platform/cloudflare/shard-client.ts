import type { ShardStatus } from "../../shards/shard-status.ts";
import type { CountAnswer } from "../accounts.ts";
import type { LimitedUse } from "../limits.ts";
import { CloudflareAccountPool, refusal } from "./accounts.ts";
import { call, type HolderClock, type OnePool, type ShardStub } from "./pool-stub.ts";

/** Client of one shard. The classes `AccountPool` and `LimitedUses` describe what a shard does beyond a single pool. */
export class ShardClient extends CloudflareAccountPool {
  readonly #shard: OnePool<ShardStub>;
  readonly #clock: HolderClock;

  constructor(shard: OnePool<ShardStub>, clock: HolderClock) {
    super(shard, clock);
    this.#shard = shard;
    this.#clock = clock;
  }

  shardStatus(most?: number): Promise<ShardStatus> {
    return call(this.#shard, this.#clock, (shard) => shard.shardStatus(most));
  }

  isWell(provider?: string): Promise<boolean> {
    return call(this.#shard, this.#clock, (shard) => shard.isWell(provider));
  }

  async hold(use: LimitedUse): Promise<CountAnswer> {
    const answer = await this.withSettled((settled) =>
      call(this.#shard, this.#clock, (shard) => shard.hold(use, settled)),
    );
    return "refused" in answer ? refusal(answer) : { limits: answer.limits };
  }

  async begun(use: LimitedUse): Promise<CountAnswer> {
    const answer = await call(this.#shard, this.#clock, (shard) => shard.begun(use));
    return "refused" in answer ? refusal(answer) : { limits: answer.limits };
  }

  holding(use: string): Promise<void> {
    return call(this.#shard, this.#clock, (shard) => shard.holding(use));
  }

  unserved(use: string, isNew: boolean): Promise<void> {
    return call(this.#shard, this.#clock, (shard) => shard.unserved(use, isNew));
  }
}
