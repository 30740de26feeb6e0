import type { SetTimer } from "../platform/clock.ts";
import type { StillHeld } from "./handover.ts";

/** How soon another shard is asked again, milliseconds: at first, and at most. */
const SOON_MS = 50;
const LATE_MS = 1_000;
/** An answer that takes longer is not waited for. It counts when it comes. */
const SILENT_MS = 2_000;
/** After so many failures it is only asked what it still holds. */
const FAILURES = 2;

/** The pool, as far as accounts are concerned that other shards had: its `AccountMoves`. */
export interface TakingPool {
  readonly generation: number;
  /** Whether accounts may be in use where they were before. */
  readonly isMoving: boolean;
  readonly awaited: readonly string[];
  /** Those of them that have said nothing of it yet. */
  readonly unheard: readonly string[];
  heldElsewhere(shard: string, answer: StillHeld): void;
}

/** What a {@link Takeover} needs from where it runs. */
export interface TakeoverOptions {
  readonly pool: TakingPool;
  readonly setTimer: SetTimer;
  /**
   * Asks another shard what it still holds, and (`first`) what it knows of the accounts. It learns of that layout if need be. May
   * be lost, repeated, late, or reject.
   */
  readonly ask: (shard: string, generation: number, first: boolean) => Promise<StillHeld>;
  /** Another shard knows of a newer layout. */
  readonly behind: () => Promise<void>;
  /** Nothing is held elsewhere any more: to be called again when it rejects. */
  readonly settled: (generation: number) => Promise<void>;
}

/**
 * Asks the shards that accounts have come from, again and again, until nothing is held there any more. To be told when the layout
 * may have changed; without any that must be asked it does nothing.
 */
export class Takeover {
  readonly #options: TakeoverOptions;
  /** The layout that is being asked about. */
  #generation = 0;
  #told = 0;
  /** Resolves when all have said once what they still hold. Null: nobody has asked for it. */
  #heard: PromiseWithResolvers<void> | null = null;

  constructor(options: TakeoverOptions) {
    this.#options = options;
  }

  /** To be called whenever the pool was configured. */
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
   * Resolves when it is known what others still hold of the accounts, which a first answer of each tells; never as long as one of them
   * is silent. Null: it is known, or there is nothing to know.
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

  /** @param tries how often it is still asked what it knows of the accounts if that fails */
  #ask(shard: string, generation: number, pauseMs: number, tries: number): void {
    const { pool, ask, setTimer, behind } = this.#options;
    let over = false;
    /** Once for each time that it was asked. */
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
        // A late answer may have said it meanwhile.
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
      // What is too large for one answer fails each time: tokens are signed in anew then.
      () => goOn(Math.max(0, tries - 1)),
    );
  }

  /** Says that all is settled, if it is. */
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
