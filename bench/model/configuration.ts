import type {
  PoolAccount,
  PoolConfiguration,
  PoolLayout,
  PoolLimits,
} from "../../src/platform/pool-configuration.ts";
import { everyShard, layoutFor, partFor, settledLayout } from "../../src/shards/layout.ts";
import { POOL_NAME } from "../../src/shards/pool-name.ts";

/** What the `Configuration` object does for pools, on the same rules: it numbers what it tells, and keeps the layout. */
export class ModelConfiguration {
  #version = 1;
  #order = 0;
  #layout: PoolLayout | null;
  #accounts: readonly PoolAccount[];
  #limits: PoolLimits;
  readonly #settled = new Set<string>();

  constructor(shards: number, accounts: readonly PoolAccount[], limits: PoolLimits) {
    this.#layout = layoutFor(shards, null);
    this.#accounts = accounts;
    this.#limits = limits;
  }

  get layout(): PoolLayout | null {
    return this.#layout;
  }

  get limits(): PoolLimits {
    return this.#limits;
  }

  get accounts(): readonly PoolAccount[] {
    return this.#accounts;
  }

  /** Names of those that are to be told of a change. */
  get concerned(): readonly string[] {
    return this.#layout === null ? [POOL_NAME] : everyShard(this.#layout);
  }

  edit(accounts: readonly PoolAccount[], limits: PoolLimits): void {
    this.#version += 1;
    this.#accounts = accounts;
    this.#limits = limits;
  }

  /** The deployment has so many shards from now on. */
  resize(shards: number): void {
    const layout = layoutFor(shards, this.#layout);
    if (layout !== this.#layout) this.#settled.clear();
    this.#layout = layout;
  }

  /** What a pool is told; null: it is none. */
  partOf(name: string): PoolConfiguration | null {
    const whole = { accounts: this.#accounts, limits: this.#limits, version: this.#version };
    if (this.#layout === null) return name === POOL_NAME ? whole : null;
    this.#order += 1;
    return partFor(whole, this.#layout, name, this.#order);
  }

  /** A pool has found that nothing is held elsewhere any more. True when all have. */
  settled(name: string, generation: number): boolean {
    const layout = this.#layout;
    if (layout?.generation !== generation || layout.earlier.length === 0) return false;
    this.#settled.add(name);
    if (!layout.shards.every((shard) => this.#settled.has(shard))) return false;
    this.#layout = settledLayout(layout);
    this.#settled.clear();
    return true;
  }
}
