import type { AccountFailure } from "../platform/accounts.ts";
import type { PoolProxy } from "../platform/pool-configuration.ts";
import type { AccountState } from "./account-state.ts";
import { type Cooldown, nextCooldown } from "./cooldown.ts";

/** What the pool knows of a proxy: when it fails, all accounts that are bound to it are passed over. */
export class ProxyState {
  readonly id: string;
  readonly accounts = new Set<AccountState>();
  /** The present series of failures, also after its cooldown has passed. */
  cooldown: Cooldown | null = null;
  /** The cooldown has not passed yet. */
  cooling = false;
  /** Leases granted up to this serial number say nothing new about the proxy. */
  failedAt = 0;

  constructor(id: string) {
    this.id = id;
  }
}

/** The proxies that accounts are bound to. What is known of them does not outlive a restart: finding out anew is cheap. */
export class Proxies {
  readonly #states = new Map<string, ProxyState>();
  #settings = new Map<string, string>();

  /** Takes over the configuration of the proxies. One that has been changed is given another chance. */
  configure(proxies: readonly PoolProxy[]): void {
    const settings = new Map(proxies.map(({ id, settings }) => [id, settings]));
    for (const [id, state] of this.#states) {
      if (state.accounts.size === 0) this.#states.delete(id);
      if (settings.get(id) === this.#settings.get(id)) continue;
      state.cooldown = null;
      state.cooling = false;
    }
    this.#settings = settings;
  }

  /** Binds an account to a proxy; to none when `id` is empty. */
  bind(account: AccountState, id: string): void {
    if ((account.proxy?.id ?? "") === id) return;
    account.proxy?.accounts.delete(account);
    account.proxy = id === "" ? null : this.#state(id);
    account.proxy?.accounts.add(account);
  }

  /** The proxy failed, for a request granted with the number `serial`. False when that is nothing new. */
  fail(proxy: ProxyState, failure: AccountFailure, serial: number, newest: number, now: number): boolean {
    if (serial <= proxy.failedAt) return false;
    proxy.cooldown = nextCooldown(proxy.cooldown, failure, now);
    proxy.cooling = true;
    proxy.failedAt = newest;
    for (const account of proxy.accounts) account.trust.lose();
    return true;
  }

  /** The proxy works, for a request granted with the number `serial`. True when that ends a series of failures. */
  succeed(proxy: ProxyState, serial: number): boolean {
    if (proxy.cooldown === null || serial <= proxy.failedAt) return false;
    proxy.cooldown = null;
    proxy.cooling = false;
    return true;
  }

  #state(id: string): ProxyState {
    let state = this.#states.get(id);
    if (state === undefined) {
      state = new ProxyState(id);
      this.#states.set(id, state);
    }
    return state;
  }
}
