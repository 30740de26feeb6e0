import type { AcquireRequest } from "../../../src/core/ports/accounts.ts";
import type { Clock, SetTimer } from "../../../src/core/ports/clock.ts";
import type { PoolConfiguration } from "../../../src/core/ports/pool-configuration.ts";
import { AccountPool, type PoolOptions } from "../../../src/pool/pool.ts";
import type { ShardStub } from "../../../src/runtime/cloudflare/pool-client/pool-stub.ts";
import { MemoryPoolStore } from "./memory-pool-store.ts";

/** An object whose backlog exceeds this time (milliseconds) rejects calls. An assumption. */
const OVERLOADED_MS = 5_000;

/** The runtime's error for a call to an object that has restarted. */
export class ObjectReset extends Error {
  readonly durableObjectReset = true;
  readonly retryable = true;
}

class Overloaded extends Error {
  readonly overloaded = true;
}

/** Timers of an object: they end when the object loses its memory. */
class ObjectTimers {
  readonly #setTimer: SetTimer;
  readonly #stops = new Set<() => void>();

  constructor(setTimer: SetTimer) {
    this.#setTimer = setTimer;
  }

  get count(): number {
    return this.#stops.size;
  }

  readonly set: SetTimer = (ms, run) => {
    const stop = this.#setTimer(ms, () => {
      this.#stops.delete(stop);
      run();
    });
    this.#stops.add(stop);
    return () => {
      this.#stops.delete(stop);
      stop();
    };
  };

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#stops.clear();
  }
}

export interface PoolObjectOptions {
  /** The pool's own options, besides its clock and storage. */
  readonly pool?: Partial<PoolOptions>;
  /** Applied at each start. */
  readonly configuration?: PoolConfiguration;
  /** How far the clock of the machine is off that runs the object after a start, milliseconds. */
  readonly clockOffset?: () => number;
  /** Processing time of one call, milliseconds. Calls are processed one after another. */
  readonly callMs?: number;
}

/** A call as it arrives. */
export interface ArrivedCall {
  readonly method: keyof ShardStub;
  /** The request of a call of `acquire`. */
  readonly request?: AcquireRequest;
  /** The call uses a stub that came from the object's start with this number. */
  readonly boundTo?: number;
}

/**
 * A pool object: the program's own pool, with storage and an alarm that outlive a restart, and timers that do not. It can
 * restart, be down for a while, be busy, or not answer.
 */
export class PoolObject {
  readonly store = new MemoryPoolStore();
  readonly clock: Clock;
  pool: AccountPool;
  /** Number of restarts so far. */
  restarts = 0;
  /** Messages that reached it. */
  messages = 0;
  /** Calls that it rejected because of overload. */
  overloads = 0;
  /** It does not answer, until `answerAgain`. */
  isSilent = false;
  /** Runs when a call arrives, and may delay it or make it fail. */
  onCall: (call: ArrivedCall) => void | Promise<void> = () => undefined;
  readonly #options: PoolObjectOptions;
  #poolOptions: Partial<PoolOptions>;
  readonly #timers: ObjectTimers;
  #stopAlarm: () => void = () => undefined;
  #upAt = 0;
  #freeAt = 0;
  #restarted = Promise.withResolvers<null>();
  #answering = Promise.withResolvers<void>();

  constructor(clock: Clock, options: PoolObjectOptions = {}) {
    this.clock = clock;
    this.#options = options;
    this.#poolOptions = options.pool ?? {};
    this.#timers = new ObjectTimers(clock.setTimer);
    this.pool = this.#start();
  }

  #start(): AccountPool {
    const { clockOffset, configuration } = this.#options;
    const offset = Math.round(clockOffset?.() ?? 0);
    const pool = new AccountPool({
      store: this.store,
      now: () => this.clock.now() + offset,
      setTimer: this.#timers.set,
      wakeAt: (at) => this.#setAlarm(at - offset, offset),
      ...this.#poolOptions,
    });
    if (configuration !== undefined) pool.configure(configuration);
    return pool;
  }

  #setAlarm(at: number, offset: number): void {
    this.#stopAlarm();
    this.#stopAlarm = this.clock.setTimer(Math.max(0, at - this.clock.now()), () => {
      const next = this.pool.sweep();
      if (next !== null) this.#setAlarm(next - offset, offset);
    });
  }

  /** Timers of the pool that are set, besides its alarm. */
  get timers(): number {
    return this.#timers.count;
  }

  /** Starts a timer that ends with the object's memory. */
  get setTimer(): SetTimer {
    return this.#timers.set;
  }

  /** Resolves at the next restart. */
  get untilRestart(): Promise<null> {
    return this.#restarted.promise;
  }

  /** The object loses its memory, and cannot be reached for `downMs` milliseconds. */
  restart(poolOptions: Partial<PoolOptions> = {}, downMs = 0): AccountPool {
    this.#poolOptions = { ...this.#poolOptions, ...poolOptions };
    this.#timers.stop();
    this.restarts += 1;
    this.#upAt = this.clock.now() + downMs;
    this.#freeAt = this.#upAt;
    this.#restarted.resolve(null);
    this.#restarted = Promise.withResolvers();
    this.pool = this.#start();
    return this.pool;
  }

  /** Answers again, also the calls that arrived while it was silent. */
  answerAgain(): void {
    this.isSilent = false;
    this.#answering.resolve();
    this.#answering = Promise.withResolvers();
  }

  async untilAnswering(): Promise<void> {
    if (this.isSilent) await this.#answering.promise;
  }

  #sleep(ms: number): Promise<void> | undefined {
    return ms > 0 ? new Promise((resolve) => this.clock.setTimer(ms, resolve)) : undefined;
  }

  /** Waits until an arrived call can be processed. Throws if it cannot. */
  async admit(call: ArrivedCall): Promise<void> {
    await this.onCall(call);
    await this.untilAnswering();
    const { boundTo } = call;
    if (boundTo === undefined) await this.#sleep(this.#upAt - this.clock.now());
    const start = this.restarts;
    if (boundTo !== undefined && boundTo !== start) throw new ObjectReset("the stub is broken");
    const { callMs = 0 } = this.#options;
    if (callMs === 0) return;
    const now = this.clock.now();
    if (this.#freeAt - now > OVERLOADED_MS) {
      this.overloads += 1;
      throw new Overloaded("the object has too much to do");
    }
    this.#freeAt = Math.max(now, this.#freeAt) + callMs;
    await this.#sleep(Math.floor(this.#freeAt - now));
    if (this.restarts !== start) throw new ObjectReset("the object was reset");
  }
}
