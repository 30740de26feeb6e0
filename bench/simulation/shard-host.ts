import type { PoolConfiguration } from "../../src/core/ports/pool-configuration.ts";
import { AccountPool } from "../../src/pool/pool.ts";
import { type Grant, Waiter } from "../../src/pool/waiter.ts";
import type { PoolNamespace, ShardStub } from "../../src/runtime/cloudflare/pool-client/pool-stub.ts";
import { MemoryPoolStore } from "../../test/support/memory-pool-store.ts";
import { ObjectTimers } from "../../test/support/object-timers.ts";
import type { VirtualClock } from "./clock.ts";

/** An object whose backlog exceeds this time (milliseconds) rejects calls. An assumption. */
const OVERLOADED_MS = 5_000;

/** The runtime's error for a call to a reset or overloaded object. */
class Gone extends Error {
  readonly durableObjectReset = true;
  readonly retryable = true;
}
class Overloaded extends Error {
  readonly overloaded = true;
}

/** One pool object: the real rules, on storage that survives it. Calls are processed sequentially. */
export class ShardHost {
  readonly name: string;
  readonly region: number;
  readonly configuration: PoolConfiguration;
  pool: AccountPool;
  /** Calls to the object, plus disposals of its stubs. */
  messages = 0;
  /** Calls that were rejected because of overload. */
  overloads = 0;
  readonly #store = new MemoryPoolStore();
  readonly #clock: VirtualClock;
  readonly #callMs: number;
  #start = 0;
  #upAt = 0;
  #freeAt = 0;
  #lost = Promise.withResolvers<null>();
  readonly #timers: ObjectTimers;

  /** @param callMs processing time of one call, in milliseconds */
  constructor(
    clock: VirtualClock,
    shard: { readonly name: string; readonly region: number },
    configuration: PoolConfiguration,
    callMs: number,
  ) {
    this.#clock = clock;
    this.#timers = new ObjectTimers(clock.setTimer);
    this.#callMs = callMs;
    this.name = shard.name;
    this.region = shard.region;
    this.configuration = configuration;
    this.pool = this.#createPool();
  }

  #createPool(): AccountPool {
    return new AccountPool({
      store: this.#store,
      now: this.#clock.now,
      setTimer: this.#timers.set,
      wakeAt: (at) => this.#sweepAt(at),
    });
  }

  /** Loads the configuration, at the first start and after each restart. */
  begin(): void {
    this.pool.configure(this.configuration);
  }

  /** Alarms survive restarts of the object. */
  #sweepAt(at: number): void {
    this.#clock.setTimer(at - this.#clock.now(), () => {
      const next = this.pool.sweep();
      if (next !== null) this.#sweepAt(next);
    });
  }

  /** Restarts the object: it loses its memory and is unreachable for `downMs` milliseconds. */
  restart(downMs: number): void {
    this.#timers.stop();
    this.#start += 1;
    this.#upAt = this.#clock.now() + downMs;
    this.#freeAt = this.#upAt;
    this.#lost.resolve(null);
    this.#lost = Promise.withResolvers<null>();
    this.pool = this.#createPool();
    this.begin();
  }

  /** Runs `work` at the object and returns the result. `boundTo`: the call uses a stub of that start. */
  async #send<T>(oneWayMs: () => number, work: () => T, boundTo: number | null = null): Promise<Awaited<T>> {
    this.messages += 1;
    await this.#clock.after(oneWayMs());
    if (boundTo === null) await this.#clock.after(this.#upAt - this.#clock.now());
    const start = this.#start;
    if (boundTo !== null && boundTo !== start) throw new Gone("the stub is broken");
    const now = this.#clock.now();
    if (this.#freeAt - now > OVERLOADED_MS) {
      this.overloads += 1;
      throw new Overloaded("the object has too much to do");
    }
    this.#freeAt = Math.max(now, this.#freeAt) + this.#callMs;
    await this.#clock.after(Math.floor(this.#freeAt - now));
    if (this.#start !== start) throw new Gone("the object was reset");
    const answer = await work();
    const wasLost = this.#start !== start;
    await this.#clock.after(oneWayMs());
    if (wasLost) throw new Gone("the object was reset");
    return answer;
  }

  /**
   * Models the RPC stub of a lease, which is bound to its object's start. Disposal costs one message and almost no object
   * time.
   */
  #carried(oneWayMs: () => number, lease: string) {
    const start = this.#start;
    const stub = {
      token: (stale?: string) => this.#send(oneWayMs, () => this.pool.token(lease, stale), start),
      signedIn: async () => {},
      signInFailed: async () => {},
      succeeded: () => this.#send(oneWayMs, () => this.pool.succeeded(lease), start),
      failed: (failure: Parameters<AccountPool["failed"]>[1]) =>
        this.#send(oneWayMs, () => this.pool.failed(lease, failure), start),
      quota: (windows: Parameters<AccountPool["recordQuota"]>[1]) =>
        this.#send(oneWayMs, () => this.pool.recordQuota(lease, windows), start),
      [Symbol.dispose]: () => {},
    };
    const dispose = () => {
      this.messages += 1;
      this.#clock.setTimer(oneWayMs(), () => {
        if (this.#start === start) this.pool.release(lease);
      });
    };
    return { lease: stub, [Symbol.dispose]: dispose };
  }

  /** Returns the object as an isolate sees it, with the latency of messages. */
  seenFrom(oneWayMs: () => number): PoolNamespace<ShardStub> {
    const granted = (grant: Grant) => ({ granted: grant, ...this.#carried(oneWayMs, grant.lease) });
    const send = <T>(work: () => T, boundTo?: number) => this.#send(oneWayMs, work, boundTo);
    return {
      getByName: () => ({
        acquire: (request) =>
          send(async () => {
            const outcome = this.pool.acquire(request);
            if (!(outcome instanceof Waiter))
              return "granted" in outcome ? granted(outcome.granted) : outcome;
            const { promise: lost } = this.#lost;
            // A call on a stub that came with the response needs no extra message, and its result arrives by itself.
            const wait = async () => {
              const settled = await Promise.race([outcome.settled, lost]);
              await this.#clock.after(oneWayMs());
              if (settled === null) throw new Gone("gone");
              return "granted" in settled ? granted(settled.granted) : settled;
            };
            const place = {
              [Symbol.dispose]: () => {
                if (outcome.outcome === null) outcome.cancel();
              },
            };
            return { place, pending: { wait }, [Symbol.dispose]: () => {} };
          }),
        beat: (isolate, leases, known) => send(() => this.pool.beat(isolate, leases, known)),
        resume: (lease, account, holder, isolate) =>
          send(() => {
            const name = this.pool.resumeLease(lease, account, holder, isolate);
            return name === null ? null : { name, ...this.#carried(oneWayMs, name) };
          }),
        report: (report) => send(() => this.pool.report(report)),
        count: (use) => send(() => this.pool.limitedRequests.count(use)),
        settleAll: async () => {},
        keyUses: async () => [],
        status: () => send(() => this.pool.status()),
        health: () => send(() => this.pool.health()),
        setTestStatus: async () => {},
        tokensDueForRefresh: async () => [],
        configure: async () => {},
        shardStatus: (most) => send(() => this.pool.shardStatus(most)),
        isWell: (provider) => send(() => this.pool.hasHealthyAccount(provider)),
        hold: (use) => send(() => this.pool.limitedRequests.reserveRemote(use)),
        begun: (use) => send(() => this.pool.limitedRequests.beginRemote(use)),
        holding: (use) => send(() => this.pool.limitedRequests.keepAlive(use)),
        unserved: (use, isNew) => send(() => this.pool.limitedRequests.releaseUnserved(use, isNew)),
      }),
    };
  }
}
