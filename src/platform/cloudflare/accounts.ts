import { Heartbeat, HeldLease, type Pulse } from "../../accounts/heartbeat.ts";
import { BEAT_MS, YOUNG_HOLD_MS } from "../../accounts/lease-life.ts";
import type { Holder } from "../../accounts/leases.ts";
import { POOL_NAME } from "../../accounts/pool-name.ts";
import type { Grant } from "../../accounts/waiting-queue.ts";
import type {
  AccountFailure,
  AccountHealth,
  AccountPoolClient,
  Acquired,
  AcquireRequest,
  Lease,
  LeasedAccount,
  PoolConfiguration,
  QueueStatus,
  Refused,
  SignedIn,
  TokenAnswer,
} from "../accounts.ts";

/** Pauses before a call to a pool that was just restarted is tried again, milliseconds. */
const RETRY_PAUSES_MS = [20, 100, 400];

/**
 * How long a holder asks after its lease that was kept from doing so for longer than the lease may be used unheard. An isolate
 * with much to do is late, and so are the answers that wait in it: that is no reason to end what a caller reads.
 */
const LATE_MS = 2_000;

/** A timer of a holder that runs is not later than this. */
const PUNCTUAL_MS = 100;

/** How long a lease that no beat has named yet waits for others, milliseconds. */
const NEWCOMER_MS = 100;

/** How long a request that has waited for its slot may take to make sure of it. */
const PROOF_MS = 5_000;

/** How long a request goes on asking that did not say for how long it would. */
const MAX_WAIT_MS = 60_000;

/** A lease on the pool object, as RPC presents it. */
interface LeaseStub extends Disposable {
  token(stale?: string): Promise<TokenAnswer>;
  signedIn(ticket: string, result: SignedIn): Promise<void>;
  signInFailed(ticket: string, failure: AccountFailure): Promise<void>;
  succeeded(): Promise<void>;
  failed(failure: AccountFailure): Promise<boolean>;
}

interface GrantReply extends Disposable {
  readonly granted: Grant;
  readonly lease: LeaseStub;
}

interface QueuedReply extends Disposable {
  readonly place: Disposable;
  readonly pending: { wait(): Promise<GrantReply | Refused> };
}

interface ResumedReply extends Disposable {
  readonly name: string;
  readonly lease: LeaseStub;
}

/** The pool object, as RPC presents it. */
interface PoolStub {
  acquire(request: AcquireRequest): Promise<GrantReply | Refused | QueuedReply>;
  beat(isolate: string, leases: readonly string[]): Promise<Pulse>;
  resume(lease: string, account: string, holder: Holder, isolate: string): Promise<ResumedReply | null>;
  status(): Promise<QueueStatus>;
  health(ids?: readonly string[]): Promise<AccountHealth[]>;
  setTestStatus(id: string, status: string): Promise<void>;
  tokensDueForRefresh(): Promise<string[]>;
  configure(configuration: PoolConfiguration): Promise<void>;
}

/** What gives a stub of the pool object: a namespace of Durable Objects. */
export interface Pools {
  getByName(name: string): PoolStub;
}

/** What a holder needs from its isolate. */
export interface HolderClock {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Calls `run` after `ms` milliseconds; the result stops it. */
  readonly setTimer: (ms: number, run: () => void) => () => void;
  /** Lets work go on after the request has ended that it was begun for. */
  readonly waitUntil: (work: Promise<unknown>) => void;
}

const SYSTEM_CLOCK: HolderClock = {
  now: () => Date.now(),
  setTimer: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  waitUntil: () => {},
};

/** What the leases of an isolate have in common. */
interface Surroundings {
  readonly pools: Pools;
  readonly heartbeat: Heartbeat;
  readonly clock: HolderClock;
}

const pause = (ms: number, { setTimer }: HolderClock): Promise<void> =>
  new Promise((resolve) => setTimer(ms, resolve));

/** Resolves when `work` is over, however it ends, or after `ms` milliseconds. True when it was done by then. */
async function atMost(ms: number, work: Promise<unknown>, { setTimer }: HolderClock): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const stop = setTimer(ms, () => resolve(false));
  work.then(
    () => resolve(true),
    () => resolve(false),
  );
  const done = await promise;
  stop();
  return done;
}

/** Whether the runtime says that the object was restarted or moved, and that a new stub may reach it. */
function mayTryAgain(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const overloaded = "overloaded" in error && error.overloaded === true;
  return !overloaded && (("retryable" in error && error.retryable === true) || "durableObjectReset" in error);
}

/** Calls the pool with a fresh stub, again when it was restarted under the call. */
async function call<T>(pools: Pools, clock: HolderClock, use: (pool: PoolStub) => Promise<T>): Promise<T> {
  for (const ms of RETRY_PAUSES_MS) {
    try {
      return await use(pools.getByName(POOL_NAME));
    } catch (error) {
      if (!mayTryAgain(error)) throw error;
      await pause(ms, clock);
    }
  }
  return use(pools.getByName(POOL_NAME));
}

/**
 * A lease held over RPC. Disposing of the stub gives the slot back: nothing is sent for it beyond what the runtime sends
 * anyway, and it happens also when the request dies. When the pool object was restarted its stubs are dead, although the
 * slot is still ours: whoever notices, a call or the isolate's heartbeat, has the lease taken over on the new object.
 */
class StubLease implements Lease {
  readonly account: LeasedAccount;
  readonly initialToken: string | null;
  readonly #around: Surroundings;
  readonly #holder: Holder;
  readonly #held: HeldLease;
  #stub: LeaseStub;
  /** What ends with the lease: the stub that carries it. */
  #owned: Disposable;
  #failing: boolean;
  #released = false;
  #resuming: Promise<boolean> | null = null;

  /** `sentAt` is when the message was sent that this lease answers, or a later time at which the pool did not know of it yet. */
  constructor(
    around: Surroundings,
    granted: Grant,
    holder: Holder,
    sentAt: number,
    stub: LeaseStub,
    owned: Disposable,
  ) {
    this.#around = around;
    this.account = granted.account;
    this.initialToken = granted.token;
    this.#failing = granted.failing;
    this.#holder = holder;
    this.#held = new HeldLease(granted.lease, sentAt + YOUNG_HOLD_MS);
    this.#stub = stub;
    this.#owned = owned;
    around.heartbeat.met(granted.lease);
  }

  async token(stale?: string): Promise<TokenAnswer> {
    return (await this.#call((stub) => stub.token(stale))) ?? LOST;
  }

  async signedIn(ticket: string, result: SignedIn): Promise<void> {
    await this.#call((stub) => stub.signedIn(ticket, result));
  }

  async signInFailed(ticket: string, failure: AccountFailure): Promise<void> {
    this.#failing = true;
    await this.#call((stub) => stub.signInFailed(ticket, failure));
  }

  async renew(): Promise<boolean> {
    const { clock } = this.#around;
    const left = this.#held.until - clock.now();
    if (left > 0) {
      if (await this.confirm(left)) return true;
      if (this.#released || this.#held.lost || clock.now() < this.#held.until + PUNCTUAL_MS) return false;
    }
    // Whoever comes too late was kept from running, hence from ending anything. The pool knows whether the slot is still ours.
    return this.confirm(LATE_MS);
  }

  /** The same, with a limit in milliseconds: asks whether the slot is still ours, if it must. */
  async confirm(ms: number): Promise<boolean> {
    if (this.#released) return false;
    const { heartbeat, clock } = this.#around;
    heartbeat.tick(this.#held);
    const heard = await atMost(ms, this.#hear(), clock);
    // The clock was set meanwhile: ask once more.
    if (heard && !this.#held.lost && clock.now() >= this.#held.until)
      await atMost(LATE_MS, this.#hear(), clock);
    return !this.#released && !this.#held.lost && clock.now() < this.#held.until;
  }

  async succeeded(): Promise<void> {
    if (!this.#failing) return;
    this.#failing = false;
    await this.#call((stub) => stub.succeeded());
  }

  async failed(failure: AccountFailure): Promise<boolean> {
    this.#failing = true;
    return (await this.#call((stub) => stub.failed(failure))) === true;
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#owned[Symbol.dispose]();
    const { heartbeat, clock } = this.#around;
    heartbeat.remove(this.#held);
    // A pool that was restarted just now would wait for this isolate in vain.
    if (this.#held.confirmed && heartbeat.size === 0) clock.waitUntil(this.#beat().catch(() => undefined));
  }

  [Symbol.dispose](): void {
    this.release();
  }

  /** Sends the isolate's beat if it is due, and takes the lease over if a beat, also another request's, has shown that it must be. */
  async #hear(): Promise<void> {
    const { heartbeat, clock } = this.#around;
    if (!heartbeat.isOld(this.#held)) {
      if (this.#isUrgent) await this.#hearSoon();
      else {
        const { sentAt } = heartbeat;
        const newcomer = !this.#held.confirmed;
        // Newcomers of one moment share a beat: the answer must come before the first of them has to stop.
        if (newcomer && heartbeat.dueIn > 0) await pause(Math.min(heartbeat.dueIn, NEWCOMER_MS), clock);
        const isDue = heartbeat.dueIn <= 0 || (newcomer && heartbeat.sentAt === sentAt);
        if (!this.#released && isDue) await this.#beat();
      }
    }
    if (this.#released) return;
    if (heartbeat.isOld(this.#held) && !(await this.#resume())) this.#held.lost = true;
  }

  /** Whether the lease ends before the next beat. */
  get #isUrgent(): boolean {
    return this.#held.until - this.#around.clock.now() <= BEAT_MS;
  }

  /** Does not wait for the next beat, and yet all that are in a hurry at the same time send few: each beat names all of them. */
  async #hearSoon(): Promise<void> {
    const { heartbeat, clock } = this.#around;
    for (let wait = heartbeat.urgentIn; wait > 0; wait = heartbeat.urgentIn) {
      await pause(wait, clock);
      const heard = !this.#isUrgent || this.#held.lost || heartbeat.isOld(this.#held);
      if (heard || this.#released) return;
    }
    await this.#beat();
  }

  #beat(): Promise<void> {
    const { pools, heartbeat, clock } = this.#around;
    return heartbeat.beat((isolate, leases) => call(pools, clock, (pool) => pool.beat(isolate, leases)));
  }

  /** Uses the stub, or a new one if it is dead. Null when the lease has ended. */
  async #call<T>(use: (stub: LeaseStub) => Promise<T>): Promise<T | null> {
    if (this.#released) return null;
    try {
      return await use(this.#stub);
    } catch {
      // The methods of a lease never throw: the stub is dead.
      return (await this.#resume()) ? use(this.#stub) : null;
    }
  }

  /** Takes the lease over, once for all who ask at the same time. False when it has ended. */
  #resume(): Promise<boolean> {
    this.#resuming ??= this.#takeOver().finally(() => {
      this.#resuming = null;
    });
    return this.#resuming;
  }

  async #takeOver(): Promise<boolean> {
    if (this.#released || this.#held.lost) return false;
    const { pools, heartbeat, clock } = this.#around;
    let sentAt = clock.now();
    const reply = await call(pools, clock, (pool) => {
      sentAt = clock.now();
      return pool.resume(this.#held.name, this.account.id, this.#holder, heartbeat.isolate);
    });
    if (reply === null) return false;
    if (this.#released) {
      reply[Symbol.dispose]();
      return false;
    }
    this.#owned[Symbol.dispose]();
    this.#held.name = reply.name;
    this.#held.confirm(sentAt);
    heartbeat.met(reply.name);
    heartbeat.tick(this.#held);
    this.#stub = reply.lease;
    this.#owned = reply;
    return true;
  }
}

const LOST: TokenAnswer = {
  failed: {
    kind: "unreachable",
    message: "the account's slot was reclaimed",
    status: 0,
    fault: null,
    retryAfter: null,
  },
};

/** A refusal without what RPC adds to it. */
function refusal({ refused, failure }: Refused): Refused {
  return failure === undefined ? { refused } : { refused, failure };
}

/** The account pool of a deployment on Workers: one Durable Object, reached by RPC. */
class CloudflareAccountPool implements AccountPoolClient {
  readonly #pools: Pools;
  readonly #clock: HolderClock;
  readonly #around: Surroundings;

  constructor(pools: Pools, clock: HolderClock) {
    this.#pools = pools;
    this.#clock = clock;
    this.#around = { pools, clock, heartbeat: new Heartbeat(clock.now) };
  }

  async acquire(request: AcquireRequest, signal?: AbortSignal): Promise<Acquired> {
    const { waitMs } = request;
    const started = this.#clock.now();
    const end = started + (waitMs ?? MAX_WAIT_MS);
    for (let attempt = 0; ; attempt += 1) {
      if (signal?.aborted) return { refused: "cancelled" };
      const left = Math.max(0, end - this.#clock.now());
      const acquired = await this.#acquireOnce(
        waitMs === undefined ? request : { ...request, waitMs: left },
        signal,
      );
      if (acquired !== null) return acquired;
      const ms = RETRY_PAUSES_MS[Math.min(attempt, RETRY_PAUSES_MS.length - 1)] ?? 0;
      if (this.#clock.now() + ms >= end) return { refused: "queue_timeout" };
      await pause(ms, this.#clock);
    }
  }

  /** Null when the pool was restarted meanwhile: a place in the queue is lost then. */
  async #acquireOnce(request: AcquireRequest, signal: AbortSignal | undefined): Promise<Acquired | null> {
    const { requestId, model, dialect = "", caller = "" } = request;
    const holder: Holder = { requestId, model, dialect, caller };
    let sentAt = this.#clock.now();
    const reply = await call(this.#pools, this.#clock, async (pool) => {
      sentAt = this.#clock.now();
      return await pool.acquire(request);
    });
    if ("granted" in reply) {
      return this.#proven(
        new StubLease(this.#around, reply.granted, holder, sentAt, reply.lease, reply),
        sentAt,
      );
    }
    if ("refused" in reply) return refusal(reply);
    const { place, pending } = reply;
    const leave = () => place[Symbol.dispose]();
    signal?.addEventListener("abort", leave, { once: true });
    try {
      // Waiting itself never fails: if it does, the object that we waited on is gone.
      const outcome = await pending.wait().catch(() => null);
      if (outcome === null) return null;
      if ("refused" in outcome) return refusal(outcome);
      if (signal?.aborted) {
        outcome[Symbol.dispose]();
        return { refused: "cancelled" };
      }
      const { granted, lease } = outcome;
      return await this.#proven(new StubLease(this.#around, granted, holder, sentAt, lease, outcome), sentAt);
    } finally {
      signal?.removeEventListener("abort", leave);
      reply[Symbol.dispose]();
    }
  }

  /** A grant that was long on its way may be from a pool that is gone: it counts once the pool has been heard of again. */
  async #proven(lease: StubLease, sentAt: number): Promise<Acquired | null> {
    if (this.#clock.now() - sentAt <= BEAT_MS || (await lease.confirm(PROOF_MS))) return { lease };
    lease.release();
    return null;
  }

  async status(): Promise<QueueStatus> {
    return call(this.#pools, this.#clock, (pool) => pool.status());
  }

  async health(ids?: readonly string[]): Promise<AccountHealth[]> {
    return call(this.#pools, this.#clock, (pool) => pool.health(ids));
  }

  async setTestStatus(id: string, status: string): Promise<void> {
    await call(this.#pools, this.#clock, (pool) => pool.setTestStatus(id, status));
  }

  async tokensDueForRefresh(): Promise<string[]> {
    return call(this.#pools, this.#clock, (pool) => pool.tokensDueForRefresh());
  }

  async configure(configuration: PoolConfiguration): Promise<void> {
    await call(this.#pools, this.#clock, (pool) => pool.configure(configuration));
  }
}

/** The account pool behind the binding `ACCOUNT_POOL`, to be made once an isolate. */
export function cloudflareAccounts(
  env: { readonly ACCOUNT_POOL: Pools },
  clock: Partial<HolderClock> = {},
): AccountPoolClient {
  return new CloudflareAccountPool(env.ACCOUNT_POOL, { ...SYSTEM_CLOCK, ...clock });
}
