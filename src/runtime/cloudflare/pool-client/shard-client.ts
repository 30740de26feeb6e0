import type { CountResult } from "../../../core/ports/accounts.ts";
import type { LimitedUse } from "../../../core/ports/subject-limits.ts";
import type { ShardStatus } from "../../../pool/shards/shard-status.ts";
import { CloudflareAccountPool, copyRefusal } from "./accounts.ts";
import { callPool, type HolderClock, type PoolStubFactory, type ShardStub } from "./pool-stub.ts";

/** Client of one shard. The classes `AccountPool` and `LimitedRequests` describe the additional methods of a shard. */
export class ShardClient extends CloudflareAccountPool {
  readonly #shard: PoolStubFactory<ShardStub>;
  readonly #clock: HolderClock;

  constructor(shard: PoolStubFactory<ShardStub>, clock: HolderClock) {
    super(shard, clock);
    this.#shard = shard;
    this.#clock = clock;
  }

  shardStatus(maxEntries?: number): Promise<ShardStatus> {
    return callPool(this.#shard, this.#clock, (shard) => shard.shardStatus(maxEntries));
  }

  hasHealthyAccount(provider?: string): Promise<boolean> {
    return callPool(this.#shard, this.#clock, (shard) => shard.hasHealthyAccount(provider));
  }

  async reserveUse(use: LimitedUse): Promise<CountResult> {
    const result = await this.sendWithSettlements((settled) =>
      callPool(this.#shard, this.#clock, (shard) => shard.reserveUse(use, settled)),
    );
    return "refused" in result ? copyRefusal(result) : { limits: result.limits };
  }

  async startUse(use: LimitedUse): Promise<CountResult> {
    const result = await callPool(this.#shard, this.#clock, (shard) => shard.startUse(use));
    return "refused" in result ? copyRefusal(result) : { limits: result.limits };
  }

  renewUse(use: string): Promise<void> {
    return callPool(this.#shard, this.#clock, (shard) => shard.renewUse(use));
  }

  cancelUse(use: string, isNew: boolean): Promise<void> {
    return callPool(this.#shard, this.#clock, (shard) => shard.cancelUse(use, isNew));
  }
}
