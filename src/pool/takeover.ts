import type { SetTimer } from "../platform/clock.ts";
import type { StillHeld } from "./handover.ts";

/** Interval at which another shard is polled, milliseconds: at first, and at most. */
const SOON_MS = 50;
const LATE_MS = 1_000;
/** An answer that takes longer is not waited for, milliseconds. It still counts when it arrives. */
const SILENT_MS = 2_000;
/** After this many failures the shard is only asked for its occupied slots, not for the accounts' stored state. */
const FAILURES = 2;

/** The pool as far as accounts are concerned that other shards owned: its `AccountMoves`. */
export interface TakingPool {
  readonly generation: number;
  /** Whether accounts may still be in use at their earlier shards. */
  readonly isMoving: boolean;
  readonly awaited: readonly string[];
  /** Those of them that have not answered yet. */
  readonly unheard: readonly string[];
  heldElsewhere(shard: string, answer: StillHeld): void;
}

/** Dependencies of a {@link ShardMigration}. */
export interface TakeoverOptions {
  readonly pool: TakingPool;
  readonly setTimer: SetTimer;
  /**
   * Asks another shard for the slots that it still occupies and (`first`) for the accounts' stored state. The other shard
   * fetches that layout if necessary. The message may be lost, repeated or late, or the promise may reject.
   */
  readonly ask: (shard: string, generation: number, first: boolean) => Promise<StillHeld>;
  /** Another shard has a newer layout. */
  readonly behind: () => Promise<void>;
  /** No slot is occupied elsewhere any more. It is called again when it rejects. */
  readonly settled: (generation: number) => Promise<void>;
}

/**
 * Polls the shards that accounts have moved from, until these shards occupy no more slots. `onConfigured` must be called
 * when the layout may have changed; without earlier shards nothing happens.
 */
export class Takeover {
  readonly #options: TakeoverOptions;
  /** The layout that the polls are about. */
  #generation = 0;
  #told = 0;
  /** Resolves when all shards have answered once. Null: no caller waits for it. */
  #heard: PromiseWithResolvers<void> | null = null;

  constructor(options: TakeoverOptions) {
    this.#options = options;
  }

  /** Must be called whenever the pool was configured. */
  look(): void {
    const { pool } = this.#options;
    this.#noteHeard();
    if (pool.generation === this.#generation) return;
    this.#generation = pool.generation;
    if (!pool.isMoving) return;
    for (const shard of pool.awaited) this.#ask(shard, this.#generation, SOON_MS, FAILURES);
    this.#tell(this.#generation, SOON_MS);
  }

  /**
   * Resolves when every earlier shard has answered once, so that the slots occupied there are known; never while one of
   * them is silent. Null: all have answered, or there is no earlier shard.
   */
  get heard(): Promise<void> | null {
    if (this.#options.pool.unheard.length === 0) return null;
    this.#heard ??= Promise.withResolvers();
    return this.#heard.promise;
  }

  #noteHeard(): void {
    if (this.#options.pool.unheard.length > 0) return;
    this.#heard?.resolve();
    this.#heard = null;
  }

  /**
   * @param tries how many more requests may ask for the stored state of the accounts
   */
  #ask(shard: string, generation: number, pauseMs: number, tries: number): void {
    const { pool, ask, setTimer, behind } = this.#options;
    let over = false;
    /** Runs once for each request. */
    const goOn = (triesLeft: number) => {
      if (over) return;
      over = true;
      stop();
      if (pool.generation !== generation) return;
      if (!pool.awaited.includes(shard)) {
        this.#tell(generation, SOON_MS);
        return;
      }
      setTimer(pauseMs, () => {
        if (pool.generation !== generation) return;
        // A late answer may have reported it meanwhile.
        if (!pool.awaited.includes(shard)) this.#tell(generation, SOON_MS);
        else this.#ask(shard, generation, Math.min(2 * pauseMs, LATE_MS), triesLeft);
      });
    };
    const stop = setTimer(SILENT_MS, () => goOn(tries));
    ask(shard, generation, tries > 0).then(
      (answer) => {
        pool.heldElsewhere(shard, answer);
        this.#noteHeard();
        if (answer.generation > pool.generation) void behind().catch(() => undefined);
        goOn(answer.generation === generation ? 0 : tries);
      },
      // An answer that is too large fails each time. Then the accounts are signed in again instead.
      () => goOn(Math.max(0, tries - 1)),
    );
  }

  /** Reports that the migration is complete, if it is. */
  #tell(generation: number, pauseMs: number): void {
    const { pool, settled, setTimer } = this.#options;
    if (pool.generation !== generation || pool.awaited.length > 0 || this.#told === generation) return;
    this.#told = generation;
    settled(generation).catch(() => {
      this.#told = 0;
      setTimer(pauseMs, () => this.#tell(generation, Math.min(2 * pauseMs, LATE_MS)));
    });
  }
}
