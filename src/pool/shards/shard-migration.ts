import type { SetTimer } from "../../core/ports/clock.ts";
import type { OccupiedSlots } from "./account-handover.ts";

/** Interval at which another shard is polled, milliseconds: at first, and at most. */
const MIN_POLL_MS = 50;
const MAX_POLL_MS = 1_000;
/** An answer that takes longer is not waited for, milliseconds. It still counts when it arrives. */
const ANSWER_TIMEOUT_MS = 2_000;
/** After this many failures the shard is only asked for its occupied slots, not for the accounts' stored state. */
const MAX_DETAIL_FAILURES = 2;

/** The part of the pool that handles accounts of other shards: its `AccountMoves`. */
export interface MigrationTarget {
  readonly generation: number;
  /** Whether accounts may still be in use at their earlier shards. */
  readonly isMoving: boolean;
  readonly pendingShards: readonly string[];
  /** The pending shards that have not answered yet. */
  readonly unansweredShards: readonly string[];
  recordOccupiedElsewhere(shard: string, answer: OccupiedSlots): void;
}

/** Dependencies of a {@link ShardMigration}. */
export interface ShardMigrationOptions {
  readonly pool: MigrationTarget;
  readonly setTimer: SetTimer;
  /**
   * Asks another shard for the slots that it still occupies and (`withStored`) for the accounts' stored state. The other
   * shard fetches that layout if necessary. The message may be lost, repeated or late, or the promise may reject.
   */
  readonly askOccupied: (shard: string, generation: number, withStored: boolean) => Promise<OccupiedSlots>;
  /** Another shard has a newer layout. */
  readonly onNewerLayout: () => Promise<void>;
  /** No slot is occupied elsewhere any more. It is called again when it rejects. */
  readonly onSettled: (generation: number) => Promise<void>;
}

/**
 * Polls the shards that accounts have moved from, until these shards occupy no more slots. `onConfigured` must be called
 * when the layout may have changed; without earlier shards nothing happens.
 */
export class ShardMigration {
  readonly #options: ShardMigrationOptions;
  /** The layout that the polls are about. */
  #generation = 0;
  #reportedGeneration = 0;
  /** Resolves when all shards have answered once. Null: no caller waits for it. */
  #allAnswered: PromiseWithResolvers<void> | null = null;

  constructor(options: ShardMigrationOptions) {
    this.#options = options;
  }

  /** Must be called whenever the pool was configured. */
  onConfigured(): void {
    const { pool } = this.#options;
    this.#resolveIfAnswered();
    if (pool.generation === this.#generation) return;
    this.#generation = pool.generation;
    if (!pool.isMoving) return;
    for (const shard of pool.pendingShards)
      this.#poll(shard, this.#generation, MIN_POLL_MS, MAX_DETAIL_FAILURES);
    this.#reportSettled(this.#generation, MIN_POLL_MS);
  }

  /**
   * Resolves when every earlier shard has answered once, so that the slots occupied there are known; never while one of
   * them is silent. Null: all have answered, or there is no earlier shard.
   */
  get allAnswered(): Promise<void> | null {
    if (this.#options.pool.unansweredShards.length === 0) return null;
    this.#allAnswered ??= Promise.withResolvers();
    return this.#allAnswered.promise;
  }

  #resolveIfAnswered(): void {
    if (this.#options.pool.unansweredShards.length > 0) return;
    this.#allAnswered?.resolve();
    this.#allAnswered = null;
  }

  /**
   * @param detailAttempts how many more requests may ask for the stored state of the accounts
   */
  #poll(shard: string, generation: number, pauseMs: number, detailAttempts: number): void {
    const { pool, askOccupied, setTimer, onNewerLayout } = this.#options;
    let isDone = false;
    /** Runs once for each request. */
    const continuePolling = (attemptsLeft: number) => {
      if (isDone) return;
      isDone = true;
      stopTimer();
      if (pool.generation !== generation) return;
      if (!pool.pendingShards.includes(shard)) {
        this.#reportSettled(generation, MIN_POLL_MS);
        return;
      }
      setTimer(pauseMs, () => {
        if (pool.generation !== generation) return;
        // A late answer may have reported it meanwhile.
        if (!pool.pendingShards.includes(shard)) this.#reportSettled(generation, MIN_POLL_MS);
        else this.#poll(shard, generation, Math.min(2 * pauseMs, MAX_POLL_MS), attemptsLeft);
      });
    };
    const stopTimer = setTimer(ANSWER_TIMEOUT_MS, () => continuePolling(detailAttempts));
    askOccupied(shard, generation, detailAttempts > 0).then(
      (answer) => {
        pool.recordOccupiedElsewhere(shard, answer);
        this.#resolveIfAnswered();
        if (answer.generation > pool.generation) void onNewerLayout().catch(() => undefined);
        continuePolling(answer.generation === generation ? 0 : detailAttempts);
      },
      // An answer that is too large fails each time. Then the accounts are signed in again instead.
      () => continuePolling(Math.max(0, detailAttempts - 1)),
    );
  }

  /** Reports that the migration is complete, if it is. */
  #reportSettled(generation: number, pauseMs: number): void {
    const { pool, onSettled, setTimer } = this.#options;
    if (
      pool.generation !== generation ||
      pool.pendingShards.length > 0 ||
      this.#reportedGeneration === generation
    )
      return;
    this.#reportedGeneration = generation;
    onSettled(generation).catch(() => {
      this.#reportedGeneration = 0;
      setTimer(pauseMs, () => this.#reportSettled(generation, Math.min(2 * pauseMs, MAX_POLL_MS)));
    });
  }
}
