import type { AccountPoolClient } from "../../../src/core/ports/accounts.ts";
import type { PoolConfiguration } from "../../../src/core/ports/pool-configuration.ts";
import { HEARTBEAT_MS } from "../../../src/pool/lease-timing.ts";
import { AccountPool } from "../../../src/pool/pool.ts";
import { type Grant, Waiter } from "../../../src/pool/waiter.ts";
import { createAccountPoolClient } from "../../../src/runtime/cloudflare/pool-client/accounts.ts";
import type { PoolNamespace } from "../../../src/runtime/cloudflare/pool-client/pool-stub.ts";
import { MemoryPoolStore } from "../../support/memory-pool-store.ts";

/** How bad the world is. */
export interface Weather {
  /** Longest time that a message is under way, milliseconds. */
  readonly latency: number;
  /** Longest time for which the pool is gone at a restart, milliseconds. */
  readonly down: number;
  /** How far the clocks of isolates run off, as a share; and by how much they differ, milliseconds. */
  readonly drift: number;
  readonly skew: number;
}

/** What the runtime says of a call to an object that is gone. */
class Reset extends Error {
  readonly durableObjectReset = true;
  readonly retryable = true;
}

type Random = () => number;

/** One pool object on storage that survives it, reached over a network. Time is the fake time of vitest. */
export class World {
  readonly store = new MemoryPoolStore();
  readonly weather: Weather;
  readonly random: Random;
  pool: AccountPool;
  restarts = 0;
  #configuration: PoolConfiguration;
  #upAt = 0;
  #offset = 0;
  #timers = new Set<ReturnType<typeof setTimeout>>();

  constructor(weather: Weather, configuration: PoolConfiguration, random: Random) {
    this.weather = weather;
    this.random = random;
    this.#configuration = configuration;
    this.pool = this.#start();
  }

  #start(): AccountPool {
    // Another machine has another clock.
    this.#offset = Math.round((this.random() - 0.5) * this.weather.skew);
    const pool = new AccountPool({
      store: this.store,
      now: () => Date.now() + this.#offset,
      setTimer: (ms, run) => {
        const timer = setTimeout(run, ms);
        this.#timers.add(timer);
        return () => clearTimeout(timer);
      },
      wakeAt: (at) => this.#sweepAt(at - this.#offset),
    });
    pool.configure(this.#configuration);
    return pool;
  }

  /** The alarm outlives the object. */
  #sweepAt(at: number): void {
    setTimeout(
      () => {
        const next = this.pool.sweep();
        if (next !== null) this.#sweepAt(next - this.#offset);
      },
      Math.max(0, at - Date.now()),
    );
  }

  /** The object loses its memory. The next message that reaches it starts it again. */
  restart(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.restarts += 1;
    this.#upAt = Date.now() + this.random() * this.weather.down;
    this.pool = this.#start();
  }

  /** When the object can be reached, as fake time. */
  get upAt(): number {
    return this.#upAt;
  }

  delay(): number {
    return this.random() ** 3 * this.weather.latency;
  }
}

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** An isolate, which runs requests and may be stopped or cut off. */
export class Isolate {
  readonly accounts: AccountPoolClient;
  readonly world: World;
  /** Fake times until which nothing of it runs, and no message comes in or goes out. */
  #stoppedUntil = 0;
  #cutOffUntil = 0;
  #failsAtOnce = false;
  readonly #born = Date.now();
  readonly #rate: number;
  readonly #skew: number;

  constructor(world: World) {
    this.world = world;
    const { drift, skew } = world.weather;
    this.#rate = 1 + (world.random() * 2 - 1) * drift;
    this.#skew = (world.random() - 0.5) * skew;
    this.accounts = createAccountPoolClient(
      { ACCOUNT_POOL: this.#pools() },
      { now: this.now, setTimer: this.setTimer },
    );
  }

  readonly now = (): number => this.#born + this.#skew + (Date.now() - this.#born) * this.#rate;

  /** A timer that does not go off while the isolate is stopped. */
  readonly setTimer = (ms: number, run: () => void): (() => void) => {
    let timer: ReturnType<typeof setTimeout>;
    const fire = () => {
      const wait = this.#stoppedUntil - Date.now();
      if (wait > 0) timer = setTimeout(fire, wait);
      else run();
    };
    timer = setTimeout(fire, ms / this.#rate);
    return () => clearTimeout(timer);
  };

  stop(ms: number): void {
    this.#stoppedUntil = Math.max(this.#stoppedUntil, Date.now() + ms);
  }

  /** @param atOnce that messages fail at once, instead of when the connection is given up. */
  cutOff(ms: number, atOnce = false): void {
    this.#cutOffUntil = Math.max(this.#cutOffUntil, Date.now() + ms);
    this.#failsAtOnce = atOnce;
  }

  /** Whether it is stopped, or was a moment ago and may still be asking the pool whether to end what it did. */
  get stopped(): boolean {
    return Date.now() < this.#stoppedUntil + 2_150;
  }

  /** Does something at the object of the present start, and comes back with the answer. */
  async #send<T>(work: () => T | Promise<T>, boundTo: number | null = null): Promise<T> {
    const { world } = this;
    const cutOff = this.#cutOffUntil;
    if (Date.now() < cutOff) {
      if (this.#failsAtOnce) throw new Error("cannot be reached");
      // Whoever sent something learns of it when the connection is given up.
      await after(cutOff - Date.now());
      throw new Reset("cut off");
    }
    await after(world.delay());
    if (boundTo === null) await after(Math.max(0, world.upAt - Date.now()));
    const start = world.restarts;
    if (boundTo !== null && boundTo !== start) throw new Reset("the stub is broken");
    const answer = await work();
    const wasLost = world.restarts !== start;
    await after(world.delay());
    if (wasLost || (world.restarts !== start && world.random() < 0.5))
      throw new Reset("the object was reset");
    await this.#arrive();
    return answer;
  }

  /** Messages wait for an isolate that is stopped, and for one that is cut off. When it goes on its timers come first. */
  async #arrive(): Promise<void> {
    for (;;) {
      const wait = Math.max(this.#stoppedUntil, this.#cutOffUntil) - Date.now();
      if (wait <= 0) return;
      await after(wait + 1);
    }
  }

  /** What RPC makes of a lease: bound to the object that it came from. */
  #carried(grant: Grant) {
    const { world } = this;
    const start = world.restarts;
    const { lease } = grant;
    const stub = {
      token: (stale?: string) => this.#send(() => world.pool.token(lease, stale), start),
      signedIn: async () => {},
      signInFailed: async () => {},
      succeeded: () => this.#send(() => world.pool.succeeded(lease), start),
      failed: async () => false,
      quota: async () => undefined,
      [Symbol.dispose]: () => {},
    };
    const dispose = () => {
      const cutOff = Math.max(0, this.#cutOffUntil - Date.now());
      setTimeout(() => {
        if (world.restarts === start) world.pool.release(lease);
      }, cutOff + world.delay());
    };
    return { granted: grant, lease: stub, [Symbol.dispose]: dispose };
  }

  #pools(): PoolNamespace {
    const { world } = this;
    return {
      getByName: () => ({
        acquire: (request) =>
          this.#send(() => {
            const outcome = world.pool.acquire(request);
            if (!(outcome instanceof Waiter))
              return "granted" in outcome ? this.#carried(outcome.granted) : outcome;
            const start = world.restarts;
            const wait = () =>
              this.#send(async () => {
                const lost = this.#untilRestart(start);
                const settled = await Promise.race([outcome.settled, lost]);
                if (settled === null) throw new Reset("gone");
                return "granted" in settled ? this.#carried(settled.granted) : settled;
              }, start);
            const place = {
              [Symbol.dispose]: () => {
                if (outcome.outcome === null) outcome.cancel();
              },
            };
            return { place, pending: { wait }, [Symbol.dispose]: () => {} };
          }),
        beat: (isolate, leases, known) => this.#send(() => world.pool.beat(isolate, leases, known)),
        resume: (lease, account, holder, isolate) =>
          this.#send(() => {
            const name = world.pool.resumeLease(lease, account, holder, isolate);
            if (name === null) return null;
            const grant = { lease: name, account: { id: account, proxyId: "" }, token: null, failing: false };
            return { ...this.#carried(grant), name };
          }),
        report: (report) => this.#send(() => world.pool.report(report)),
        count: (use) => this.#send(() => world.pool.limitedRequests.count(use)),
        settleAll: (settled) =>
          this.#send(() => {
            for (const [use, spent] of settled) world.pool.limitedRequests.settle(use, spent);
          }),
        keyUses: () => this.#send(() => world.pool.limitedRequests.listSubjectUses()),
        status: () => this.#send(() => world.pool.status()),
        health: () => this.#send(() => world.pool.health()),
        setTestStatus: async () => {},
        tokensDueForRefresh: async () => [],
        configure: async () => {},
      }),
    };
  }

  async #untilRestart(start: number): Promise<null> {
    while (this.world.restarts === start) await after(50);
    return null;
  }

  /**
   * A request: it uses a slot for some time, unless it is told to stop, and gives it back.
   *
   * @param uses is told when it begins and ends to use an account.
   * @param dies that the request ends without a word: its timers stop, and the runtime disposes of its stubs.
   */
  async request(
    ms: number,
    uses: (account: string, change: 1 | -1) => void,
    dies: boolean,
    waitMs: number,
  ): Promise<"done" | "aborted" | "refused"> {
    const acquired = await this.accounts.acquire({ requestId: "r", model: "m", waitMs }).catch(() => null);
    if (acquired === null || "refused" in acquired) return "refused";
    const { lease } = acquired;
    uses(lease.account.id, 1);
    const { promise, resolve } = Promise.withResolvers<"done" | "aborted">();
    const stops: (() => void)[] = [this.setTimer(ms, () => resolve("done"))];
    const tick = () => {
      stops.push(this.setTimer(HEARTBEAT_MS, tick));
      lease.renew().then(
        (held) => {
          if (!held) resolve("aborted");
        },
        () => resolve("aborted"),
      );
    };
    stops.push(this.setTimer(HEARTBEAT_MS, tick));
    const how = await promise;
    for (const stop of stops) stop();
    uses(lease.account.id, -1);
    if (!dies) lease.release();
    else setTimeout(() => lease.release(), 5);
    return how;
  }
}
