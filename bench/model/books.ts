import type { PoolLimits } from "../../src/core/ports/pool-configuration.ts";

/** Violation of an invariant. */
export class Violation extends Error {}

/** Limits from a time on. Each value is the largest that any shard used. */
interface InForce {
  readonly since: number;
  readonly perAccount: number;
  readonly global: number;
  readonly queue: number;
}

const NONE: InForce = { since: 0, perAccount: 0, global: 0, queue: 0 };
const limit = (value: number): number => value || Number.POSITIVE_INFINITY;

/**
 * Omniscient reference: who really uses which account, and who really waits. A changed limit reaches the shards after a
 * delay and revokes no slot. So the number of used slots must never exceed the largest limit of any shard since the oldest
 * of these slots was granted. The same holds for waiting requests.
 */
export class Books {
  readonly #users = new Map<string, number>();
  readonly #history: InForce[] = [];
  #event = 0;
  inUse = 0;
  granted = 0;
  /** Maximum number of accounts in use at the same time. */
  mostInUse = 0;

  /** Records an event and returns its number. */
  next(): number {
    this.#event += 1;
    return this.#event;
  }

  /** Records that shards use these limits from now on. */
  told(limits: readonly PoolLimits[]): void {
    const most = (of: (one: PoolLimits) => number) => Math.max(0, ...limits.map(of));
    this.#history.push({
      since: this.next(),
      perAccount: most(({ perAccount }) => perAccount),
      global: most(({ global }) => limit(global)),
      queue: most(({ queue }) => limit(queue)),
    });
  }

  begins(account: string, oldest: number): void {
    const users = (this.#users.get(account) ?? 0) + 1;
    this.#users.set(account, users);
    this.inUse += 1;
    this.granted += 1;
    this.mostInUse = Math.max(this.mostInUse, this.inUse);
    const { perAccount, global } = this.#since(oldest);
    if (users > perAccount) throw new Violation(`${users} requests use ${account}: ${perAccount} may`);
    if (this.inUse > global) throw new Violation(`${this.inUse} slots are in use: ${global} may be`);
  }

  ends(account: string): void {
    this.#users.set(account, (this.#users.get(account) ?? 0) - 1);
    this.inUse -= 1;
  }

  /** Records the number of requests that wait for one provider. */
  waits(count: number, oldest: number): void {
    const { queue } = this.#since(oldest);
    if (count > queue) throw new Violation(`${count} requests wait for one provider: ${queue} may`);
  }

  /** Drops limits that were replaced before that event. */
  forget(before: number): void {
    while ((this.#history[1]?.since ?? Number.POSITIVE_INFINITY) <= before) this.#history.shift();
  }

  #since(event: number): InForce {
    let most = NONE;
    for (const [index, { perAccount, global, queue }] of this.#history.entries()) {
      if ((this.#history[index + 1]?.since ?? Number.POSITIVE_INFINITY) <= event) continue;
      most = {
        since: 0,
        perAccount: Math.max(most.perAccount, perAccount),
        global: Math.max(most.global, global),
        queue: Math.max(most.queue, queue),
      };
    }
    return most;
  }
}
