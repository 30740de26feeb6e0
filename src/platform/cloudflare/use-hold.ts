import { HOLD_MS } from "../../pool/lease-life.ts";
import { SILENT_MS } from "../../shards/asked-shard.ts";
import type { CountAnswer } from "../accounts.ts";
import { inTime } from "../clock.ts";
import type { LimitedUse } from "../limits.ts";
import type { HolderClock } from "./pool-stub.ts";
import type { ShardClient } from "./shard-client.ts";

/** How often the pool that counts a request hears of it, milliseconds: more than once in the time for which it may not. */
const TELL_MS = 3_000;

/**
 * A request of a key with limits that one pool counts, and another one gives a slot. The one that counts hears of it for as long as it
 * lasts: it counts the request as over when it has not for as long as a lease lives.
 */
export class UseHold {
  readonly #home: ShardClient;
  readonly #use: LimitedUse;
  readonly #clock: HolderClock;
  #until: number;
  #stop: () => void = () => {};
  #over = false;

  /** @param sentAt when the message was sent by which it was let in */
  constructor(home: ShardClient, use: LimitedUse, sentAt: number, clock: HolderClock) {
    this.#home = home;
    this.#use = use;
    this.#clock = clock;
    this.#until = sentAt + HOLD_MS;
    this.#plan();
  }

  /** It has got its slot. Refused: it was taken for ended meanwhile, and cannot be let in anew. */
  async begun(): Promise<CountAnswer> {
    const sentAt = this.#clock.now();
    const answer = await this.#home.begun(this.#use);
    this.#until = sentAt + HOLD_MS;
    return answer;
  }

  /** Whether it counts: it may go on then. Asks if it must, and waits for a moment. */
  async counts(): Promise<boolean> {
    if (this.#over || this.#clock.now() < this.#until) return true;
    await inTime(this.#tell(), SILENT_MS, this.#clock);
    return this.#clock.now() < this.#until;
  }

  /** It is over: whoever settles it says what it has used. */
  end(): void {
    this.#over = true;
    this.#stop();
  }

  /**
   * It has got no slot.
   *
   * @param isNew nor had it one before
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
      // It is told again, and in time ends what cannot be told.
    }
  }
}
