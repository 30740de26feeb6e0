import type { CountResult } from "../../../core/ports/accounts.ts";
import { withTimeout } from "../../../core/ports/clock.ts";
import type { LimitedUse } from "../../../core/ports/subject-limits.ts";
import { CONFIRMED_HOLD_MS } from "../../../pool/leases/lease-timing.ts";
import { SHARD_TIMEOUT_MS } from "../../../pool/shards/shard-access.ts";
import type { HolderClock } from "./pool-stub.ts";
import type { ShardClient } from "./shard-client.ts";

/** Interval of heartbeats to the limit shard, milliseconds: several within the time that the shard may miss them. */
const USE_HEARTBEAT_MS = 3_000;

/**
 * Keeps a request counted at the limit shard while it has a slot of another shard. The limit shard gets heartbeats until the
 * request ends. Without them it counts the request as over after the lifetime of a lease.
 */
export class LimitLease {
  readonly #limitShard: ShardClient;
  readonly #use: LimitedUse;
  readonly #clock: HolderClock;
  #validUntil: number;
  #stop: () => void = () => {};
  #hasEnded = false;

  /** @param sentAt when the message was sent that admitted the request */
  constructor(limitShard: ShardClient, use: LimitedUse, sentAt: number, clock: HolderClock) {
    this.#limitShard = limitShard;
    this.#use = use;
    this.#clock = clock;
    this.#validUntil = sentAt + CONFIRMED_HOLD_MS;
    this.#scheduleHeartbeat();
  }

  /** Reports that the request has its slot. The limit shard refuses if it already counted the request as over. */
  async start(): Promise<CountResult> {
    const sentAt = this.#clock.now();
    const result = await this.#limitShard.startUse(this.#use);
    this.#validUntil = sentAt + CONFIRMED_HOLD_MS;
    return result;
  }

  /** Whether the request still counts, so that it may continue. Asks the limit shard if necessary, for a limited time. */
  async isCounted(): Promise<boolean> {
    if (this.#hasEnded || this.#clock.now() < this.#validUntil) return true;
    await withTimeout(this.#sendHeartbeat(), SHARD_TIMEOUT_MS, this.#clock);
    return this.#clock.now() < this.#validUntil;
  }

  /** The request is over. The call that settles it reports its usage. */
  end(): void {
    this.#hasEnded = true;
    this.#stop();
  }

  /**
   * The request got no slot.
   *
   * @param isNew whether it had no slot before either
   */
  cancel(isNew: boolean): void {
    this.end();
    this.#clock.waitUntil(this.#limitShard.cancelUse(this.#use.id, isNew).catch(() => undefined));
  }

  #scheduleHeartbeat(): void {
    this.#stop = this.#clock.setTimer(USE_HEARTBEAT_MS, () => {
      if (this.#hasEnded) return;
      void this.#sendHeartbeat();
      this.#scheduleHeartbeat();
    });
  }

  async #sendHeartbeat(): Promise<void> {
    const sentAt = this.#clock.now();
    try {
      await this.#limitShard.renewUse(this.#use.id);
      this.#validUntil = sentAt + CONFIRMED_HOLD_MS;
    } catch {
      // The next heartbeat tries again. If all fail, `isCounted` ends the request.
    }
  }
}
