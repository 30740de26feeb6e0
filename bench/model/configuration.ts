import type {
  PoolAccount,
  PoolConfiguration,
  PoolLayout,
  PoolLimits,
} from "../../src/core/ports/pool-configuration.ts";
import {
  buildShardConfiguration,
  listAllShards,
  nextLayout,
  settledLayout,
} from "../../src/pool/shards/layout.ts";
import { POOL_NAME } from "../../src/pool/shards/pool-name.ts";

/** Model of the `Configuration` object for pools, with the same rules: it numbers its messages and stores the layout. */
export class ModelConfiguration {
  #version = 1;
  #order = 0;
  #layout: PoolLayout | null;
  #accounts: readonly PoolAccount[];
  #limits: PoolLimits;
  readonly #settled = new Set<string>();

  constructor(shards: number, accounts: readonly PoolAccount[], limits: PoolLimits) {
    this.#layout = nextLayout(shards, null);
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

  /** Names of the pools that a change must reach. */
  get concerned(): readonly string[] {
    return this.#layout === null ? [POOL_NAME] : listAllShards(this.#layout);
  }

  edit(accounts: readonly PoolAccount[], limits: PoolLimits): void {
    this.#version += 1;
    this.#accounts = accounts;
    this.#limits = limits;
  }

  /** Sets the number of shards. */
  resize(shards: number): void {
    const layout = nextLayout(shards, this.#layout);
    if (layout !== this.#layout) this.#settled.clear();
    this.#layout = layout;
  }

  /** Returns the configuration for a pool; null if there is no pool with this name. */
  partOf(name: string): PoolConfiguration | null {
    const whole = { accounts: this.#accounts, limits: this.#limits, version: this.#version };
    if (this.#layout === null) return name === POOL_NAME ? whole : null;
    this.#order += 1;
    return buildShardConfiguration(whole, this.#layout, name, this.#order);
  }

  /** Records that a pool found no more leases at earlier shards. Returns true when all pools have reported. */
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
