import type { AccountFailure } from "../../core/ports/accounts.ts";
import type { PoolProxy } from "../../core/ports/pool-configuration.ts";
import { type AccountState, ProxyState } from "./account-state.ts";

/** The proxies that accounts are bound to. Their state is lost at a restart, because detecting a failure again is cheap. */
export class Proxies {
  readonly #states = new Map<string, ProxyState>();
  #settings = new Map<string, string>();

  /** Applies the proxies' configuration. A changed proxy loses its cooldown. */
  configure(proxies: readonly PoolProxy[]): void {
    const settings = new Map(proxies.map(({ id, settings }) => [id, settings]));
    for (const [id, state] of this.#states) {
      if (state.accounts.size === 0) this.#states.delete(id);
      if (settings.get(id) === this.#settings.get(id)) continue;
      state.breaker.reset();
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

  /**
   * Records a proxy failure of the lease with this serial number. Returns false when the lease is older than the last
   * failure.
   */
  recordFailure(
    proxy: ProxyState,
    failure: AccountFailure,
    serial: number,
    newest: number,
    now: number,
  ): boolean {
    if (!proxy.breaker.isCurrent(serial)) return false;
    proxy.breaker.recordFailure(failure, newest, now);
    for (const account of proxy.accounts) account.breaker.requireProbe();
    return true;
  }

  /** Records a success through the proxy. Returns true when that ends a series of failures. */
  recordSuccess(proxy: ProxyState, serial: number): boolean {
    if (proxy.breaker.cooldown === null || !proxy.breaker.isCurrent(serial)) return false;
    return proxy.breaker.recordSuccess();
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
