import { HOLD_MS } from "../../pool/lease-life.ts";
import { SILENT_MS } from "../../shards/asked-shard.ts";
import type { CountAnswer } from "../accounts.ts";
import { inTime } from "../clock.ts";
import type { LimitedUse } from "../limits.ts";
import type { HolderClock } from "./pool-stub.ts";
import type { ShardClient } from "./shard-client.ts";

/** Interval of heartbeats to the quota shard, milliseconds: several within the time that the shard may miss them. */
const TELL_MS = 3_000;

/**
 * Keeps a request counted at the quota shard while it has a slot of another shard. The quota shard gets heartbeats until the
 * request ends. Without them it counts the request as over after the lifetime of a lease.
 */
export class UseHold {
  readonly #home: ShardClient;
  readonly #use: LimitedUse;
  readonly #clock: HolderClock;
  #until: number;
  #stop: () => void = () => {};
  #over = false;

  /** @param sentAt when the message was sent that admitted the request */
  constructor(home: ShardClient, use: LimitedUse, sentAt: number, clock: HolderClock) {
    this.#home = home;
    this.#use = use;
    this.#clock = clock;
    this.#until = sentAt + HOLD_MS;
    this.#plan();
  }

  /** The request has its slot. Refused: the quota shard took the request for ended, and cannot admit it again. */
  async begun(): Promise<CountAnswer> {
    const sentAt = this.#clock.now();
    const answer = await this.#home.begun(this.#use);
    this.#until = sentAt + HOLD_MS;
    return answer;
  }

  /** Whether the request still counts, so that it may continue. Asks the quota shard if necessary, for a limited time. */
  async counts(): Promise<boolean> {
    if (this.#over || this.#clock.now() < this.#until) return true;
    await inTime(this.#tell(), SILENT_MS, this.#clock);
    return this.#clock.now() < this.#until;
  }

  /** The request is over. The call that settles it reports its usage. */
  end(): void {
    this.#over = true;
    this.#stop();
  }

  /**
   * The request got no slot.
   *
   * @param isNew whether it had no slot before either
   */
  unserved(isNew: boolean): void {
    this.end();
    this.#clock.waitUntil(this.#home.unserved(this.#use.id, isNew).catch(() => undefined));
  }

  #plan(): void {
    this.#stop = this.#clock.setTimer(TELL_MS, () => {
      if (this.#over) return;
      void this.#tell();
      this.#plan();
    });
  }

  async #tell(): Promise<void> {
    const sentAt = this.#clock.now();
    try {
      await this.#home.holding(this.#use.id);
      this.#until = sentAt + HOLD_MS;
    } catch {
      // The next heartbeat tries again. If all fail, `counts` ends the request.
    }
  }
}
