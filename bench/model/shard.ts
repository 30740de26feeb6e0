import type { AcquireRequest } from "../../src/core/ports/accounts.ts";
import type { PoolConfiguration, PoolLimits } from "../../src/core/ports/pool-configuration.ts";
import type { OccupiedSlots } from "../../src/pool/account-handover.ts";
import { LimitAcquirer } from "../../src/pool/limit-acquirer.ts";
import { LimitRebalancer } from "../../src/pool/limit-rebalancer.ts";
import type { ShareAnswers, ShareRequests } from "../../src/pool/peer-limit-state.ts";
import { AccountPool } from "../../src/pool/pool.ts";
import { ShardMigration } from "../../src/pool/shard-migration.ts";
import { POOL_NAME } from "../../src/pool/shards/pool-name.ts";
import type { AcquireOutcome, Waiter } from "../../src/pool/waiter.ts";
import { MemoryPoolStore } from "../../test/support/memory-pool-store.ts";
import { ObjectTimers } from "../../test/support/object-timers.ts";
import type { ModelClock } from "./clock.ts";
import type { Network } from "./network.ts";

/** Environment of the shards. */
export interface Surroundings {
  readonly clock: ModelClock;
  readonly network: Network;
  shard(name: string): ModelShard;
  /** Returns the configuration that a pool gets on request. */
  partOf(name: string): PoolConfiguration | null;
  settled(name: string, generation: number): void;
  /** Called when the shard switches to other limits. */
  told(): void;
}

/** Model of the pool object: the real rules, on storage that survives the object. */
export class ModelShard {
  readonly name: string;
  readonly store = new MemoryPoolStore();
  pool: AccountPool;
  /** Number of starts so far. */
  start = 0;
  /** Limits in use; null: not configured yet. */
  limits: PoolLimits | null = null;
  readonly #around: Surroundings;
  #configured = false;
  #trader: LimitRebalancer | null = null;
  #seeker: LimitAcquirer | null = null;
  #takeover: ShardMigration;
  readonly #timers: ObjectTimers;

  constructor(name: string, around: Surroundings) {
    this.name = name;
    this.#around = around;
    this.#timers = new ObjectTimers(around.clock.setTimer);
    [this.pool, this.#takeover] = this.#made();
  }

  /** Alarms survive restarts of the object. */
  #sweepAt(at: number): void {
    this.#around.clock.setTimer(at - this.#around.clock.now(), () => {
      const next = this.pool.sweep();
      if (next !== null) this.#sweepAt(next);
    });
  }

  #made(): [AccountPool, ShardMigration] {
    const { clock } = this.#around;
    const setTimer = this.#timers.set;
    const pool = new AccountPool({
      store: this.store,
      now: clock.now,
      setTimer,
      wakeAt: (at) => this.#sweepAt(at),
      onLimitExhausted: (limit, turnedAway) => this.#trader?.onLimitExhausted(limit, turnedAway),
    });
    const takeover = new ShardMigration({
      pool: pool.moves,
      setTimer,
      askOccupied: (shard, generation, first) =>
        this.#call(() => this.#around.shard(shard).heldFor(this.name, generation, first)),
      onNewerLayout: () => this.#call(() => this.#around.partOf(this.name)).then((part) => this.#take(part)),
      onSettled: (generation) => this.#call(() => this.#around.settled(this.name, generation)),
    });
    return [pool, takeover];
  }

  /** Calls a remote party. The response reaches only the start of the object that sent the request. */
  #call<T>(work: () => T): Promise<T> {
    const { start } = this;
    return this.#around.network
      .call(work)
      .then((answer) => (this.start === start ? answer : new Promise<T>(() => {})));
  }

  /** Restarts the object, which loses its memory. */
  restart(): void {
    this.#timers.stop();
    this.start += 1;
    this.#configured = false;
    this.limits = null;
    this.#trader = null;
    this.#seeker = null;
    [this.pool, this.#takeover] = this.#made();
  }

  /** Returns the pool, configured first if necessary. */
  known(): AccountPool {
    if (!this.#configured) this.#take(this.#around.partOf(this.name));
    return this.pool;
  }

  /** Acquires a slot. Never resolves if the object restarts meanwhile. */
  async acquire(request: AcquireRequest): Promise<AcquireOutcome | Waiter> {
    const pool = this.known();
    const { start } = this;
    const outcome = this.#seeker === null ? pool.acquire(request) : await this.#seeker.acquire(request);
    return this.start === start ? outcome : new Promise(() => {});
  }

  configure(configuration: PoolConfiguration): void {
    this.known();
    this.#take(configuration);
  }

  heldFor(shard: string, generation: number, andKnown: boolean): OccupiedSlots {
    if (this.known().moves.generation < generation) this.#take(this.#around.partOf(this.name));
    return this.pool.moves.occupiedSlotsFor(shard, andKnown);
  }

  partsAsked(shard: string, asks: ShareRequests): ShareAnswers {
    this.known();
    return this.#trader?.handleRequest(shard, asks) ?? {};
  }

  #take(configuration: PoolConfiguration | null): void {
    this.#configured = true;
    if (configuration === null) return;
    const { shard, limits } = configuration;
    const { pool } = this;
    let taken = false;
    if (shard === undefined) taken = pool.configure(configuration);
    else {
      this.#trader ??= this.#newTrader();
      this.#seeker ??= new LimitAcquirer(this.pool, this.#trader, {
        now: this.#around.clock.now,
        setTimer: this.#timers.set,
      });
      const { shards, former } = shard.layout;
      taken = this.#trader.configure({ shards, former, founders: [POOL_NAME] }, configuration);
    }
    if (taken) {
      this.limits = limits;
      this.#around.told();
    }
    this.#takeover.onConfigured();
  }

  #newTrader(): LimitRebalancer {
    return new LimitRebalancer({
      name: this.name,
      store: this.store,
      pool: this.pool,
      now: this.#around.clock.now,
      setTimer: this.#timers.set,
      send: (to, asks) => this.#call(() => this.#around.shard(to).partsAsked(this.name, asks)),
    });
  }
}
