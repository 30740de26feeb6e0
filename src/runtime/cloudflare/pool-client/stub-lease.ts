import type {
  AccountFailure,
  Lease,
  LeasedAccount,
  QuotaWindow,
  SignInResult,
  TokenResult,
} from "../../../core/ports/accounts.ts";
import { sleep, withTimeout } from "../../../core/ports/clock.ts";
import { HEARTBEAT_MS, UNCONFIRMED_HOLD_MS } from "../../../pool/leases/lease-timing.ts";
import { type LeaseHolder, SLOT_RECLAIMED } from "../../../pool/leases/leases.ts";
import type { Grant } from "../../../pool/queue/grant.ts";
import { type Heartbeat, HeldLease } from "./heartbeat.ts";
import { callPool, type HolderClock, type LeaseStub, type PoolStubFactory } from "./pool-stub.ts";

/**
 * How long a lease holder that was stalled keeps asking about its lease after the lease has expired. In a busy isolate both
 * timers and answers are late: that is no reason to end an answer that a caller is reading.
 */
const STALL_GRACE_MS = 2_000;

/** Timers of a running isolate are never later than this. */
const TIMER_TOLERANCE_MS = 100;

/** A holder that checks its lease this late was stalled. */
const STALL_MS = HEARTBEAT_MS + TIMER_TOLERANCE_MS;

/** Pause before asking again after no answer from the pool. */
const RETRY_MS = 50;

/** Remaining time of a lease, milliseconds, at which a lease that took long to arrive is confirmed. */
const EARLY_CHECK_MS = 700;

/** How long a lease that no heartbeat has named yet waits for other new leases, milliseconds. */
const NEW_LEASE_WAIT_MS = 100;

/** The objects that all leases of an isolate use. */
export interface LeaseContext {
  readonly pool: PoolStubFactory;
  readonly heartbeat: Heartbeat;
  readonly clock: HolderClock;
}

/** Resolves when `work` settles, or after `ms` milliseconds. */
async function settleWithin(ms: number, work: Promise<unknown>, clock: HolderClock): Promise<void> {
  await withTimeout(Promise.allSettled([work]), ms, clock);
}

/**
 * A lease held over RPC. Disposing of the stub releases the slot: that needs no extra message, and the runtime also does it
 * when the request dies. After a restart of the pool object the stubs are dead but the slot is still held. The first to
 * notice, a call or the isolate's heartbeat, resumes the lease on the new object.
 */
export class StubLease implements Lease {
  readonly account: LeasedAccount;
  readonly initialToken: string | null;
  readonly #context: LeaseContext;
  readonly #holder: LeaseHolder;
  readonly #heldLease: HeldLease;
  /** When the holder last checked the lease. */
  #checkedAt: number;
  /** When the holder was last found to have been stalled. */
  #stalledAt = Number.NEGATIVE_INFINITY;
  #stub: LeaseStub;
  /** The RPC reply that carries the stub; disposing of it ends the lease. */
  #reply: Disposable;
  #failing: boolean;
  #released = false;
  #resuming: Promise<boolean> | null = null;
  #cancelEarlyCheck = () => {};

  /**
   * @param sentAt when the request that this lease answers was sent, or a later time at which the pool did not know it yet
   */
  constructor(
    context: LeaseContext,
    granted: Grant,
    holder: LeaseHolder,
    sentAt: number,
    stub: LeaseStub,
    reply: Disposable,
  ) {
    this.#context = context;
    this.account = granted.account;
    this.initialToken = granted.token;
    this.#failing = granted.failing;
    this.#holder = holder;
    this.#heldLease = new HeldLease(granted.lease, sentAt + UNCONFIRMED_HOLD_MS);
    this.#checkedAt = context.clock.now();
    this.#stub = stub;
    this.#reply = reply;
    context.heartbeat.noteGrantedLease(granted.lease);
    // Heartbeats of other requests name it before its own first one is due.
    context.heartbeat.tick(this.#heldLease);
  }

  async getToken(stale?: string): Promise<TokenResult> {
    return (await this.#call((stub) => stub.token(stale))) ?? SLOT_RECLAIMED;
  }

  async completeSignIn(ticket: string, result: SignInResult): Promise<void> {
    await this.#call((stub) => stub.signedIn(ticket, result));
  }

  async failSignIn(ticket: string, failure: AccountFailure): Promise<void> {
    this.#failing = true;
    await this.#call((stub) => stub.signInFailed(ticket, failure));
  }

  async renew(): Promise<boolean> {
    const { clock } = this.#context;
    if (clock.now() - this.#checkedAt > STALL_MS) this.#stalledAt = clock.now();
    this.#checkedAt = clock.now();
    if (this.#remainingMs > 0 && (await this.#renewInTime())) return true;
    if (clock.now() > this.#heldLease.until + TIMER_TOLERANCE_MS) this.#stalledAt = clock.now();
    // A holder that was running when its time ended gives up. A stalled one could not end its work in time: it asks once,
    // since the pool knows whether the slot is still held.
    const graceMs = this.#stalledAt + STALL_GRACE_MS - clock.now();
    if (this.#hasEnded || graceMs <= 0) return false;
    await this.#heartbeatWithin(graceMs);
    return !this.#hasEnded && this.#remainingMs > 0;
  }

  /**
   * Asks the pool until it confirms the lease, for at most `ms` milliseconds. A failed heartbeat does not count, nor one
   * that another request sent before it knew of this lease.
   */
  async confirm(ms: number): Promise<boolean> {
    const { clock, heartbeat } = this.#context;
    const { promise: confirmed, resolve } = Promise.withResolvers<void>();
    this.#heldLease.onConfirmed = resolve;
    const deadline = clock.now() + ms;
    for (let remainingMs = ms; remainingMs > 0 && !this.#hasEnded; remainingMs = deadline - clock.now()) {
      heartbeat.tick(this.#heldLease);
      await settleWithin(remainingMs, Promise.race([confirmed, this.#heartbeatIfDue(true)]), clock);
      if (this.#hasEnded || this.#heldLease.isConfirmed) break;
      await sleep(Math.min(RETRY_MS, remainingMs), clock);
    }
    this.#checkedAt = clock.now();
    return this.#heldLease.isConfirmed && !this.#hasEnded && this.#remainingMs > 0;
  }

  /** Confirms a lease that is already in use before its first regular check. The caller does not wait for the answer. */
  confirmEarly(): void {
    const { clock, heartbeat } = this.#context;
    this.#cancelEarlyCheck = clock.setTimer(Math.max(0, this.#remainingMs - EARLY_CHECK_MS), () => {
      if (this.#hasEnded || this.#heldLease.isConfirmed) return;
      heartbeat.tick(this.#heldLease);
      this.#heartbeatIfDue(true).catch(() => undefined);
    });
  }

  /**
   * True once the lease lasts until the holder's next check. Until then this waits until the lease's end: messages may fail
   * at once, and timers may fire slightly early.
   */
  async #renewInTime(): Promise<boolean> {
    const { clock } = this.#context;
    for (let remainingMs = this.#remainingMs; remainingMs > 0; remainingMs = this.#remainingMs) {
      await this.#heartbeatWithin(remainingMs);
      if (this.#hasEnded) return false;
      if (!this.#isUrgent) return true;
      await sleep(Math.min(RETRY_MS, Math.max(0, this.#remainingMs)), clock);
    }
    return false;
  }

  /** Milliseconds for which the slot may be used without hearing from the pool. */
  get #remainingMs(): number {
    return this.#heldLease.until - this.#context.clock.now();
  }

  /** Whether the lease is released or lost. */
  get #hasEnded(): boolean {
    return this.#released || this.#heldLease.isLost;
  }

  /** Sends a heartbeat for the lease if necessary, and waits for it at most `ms` milliseconds. */
  async #heartbeatWithin(ms: number): Promise<void> {
    if (this.#released) return;
    const { heartbeat, clock } = this.#context;
    heartbeat.tick(this.#heldLease);
    await settleWithin(ms, this.#heartbeatIfDue(), clock);
  }

  async reportSuccess(): Promise<void> {
    if (!this.#failing) return;
    this.#failing = false;
    await this.#call((stub) => stub.succeeded());
  }

  async reportFailure(failure: AccountFailure): Promise<boolean> {
    this.#failing = true;
    return (await this.#call((stub) => stub.failed(failure))) === true;
  }

  async reportQuota(windows: readonly QuotaWindow[]): Promise<void> {
    await this.#call((stub) => stub.quota(windows));
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#cancelEarlyCheck();
    this.#reply[Symbol.dispose]();
    const { heartbeat, clock } = this.#context;
    heartbeat.remove(this.#heldLease);
    // Otherwise a pool that has just restarted would wait for leases that this isolate no longer has.
    if (heartbeat.mayBeRegistered && heartbeat.size === 0)
      clock.waitUntil(this.#notifyIdle().catch(() => undefined));
  }

  /** Reports that the isolate holds no leases; again if the pool has restarted meanwhile. */
  async #notifyIdle(): Promise<void> {
    const { heartbeat } = this.#context;
    const { newestStart } = heartbeat;
    await this.#sendHeartbeat();
    if (heartbeat.size === 0 && heartbeat.newestStart !== newestStart) await this.#sendHeartbeat();
  }

  [Symbol.dispose](): void {
    this.release();
  }

  /** Sends the isolate's heartbeat if it is due. Resumes the lease if any heartbeat has shown that the pool restarted. */
  async #heartbeatIfDue(isUrgent = false): Promise<void> {
    const { heartbeat, clock } = this.#context;
    if (!heartbeat.isFromEarlierStart(this.#heldLease)) {
      if (isUrgent || this.#isUrgent) await this.#heartbeatUrgently(isUrgent);
      else {
        const { sentAt } = heartbeat;
        const isNew = !this.#heldLease.isConfirmed;
        // New leases of one moment share a heartbeat. Its answer must arrive before the first of them has to stop.
        if (isNew && heartbeat.dueInMs > 0)
          await sleep(Math.min(heartbeat.dueInMs, NEW_LEASE_WAIT_MS), clock);
        const isDue = heartbeat.dueInMs <= 0 || (isNew && heartbeat.sentAt === sentAt);
        if (!this.#released && isDue) await this.#sendHeartbeat();
      }
    }
    if (this.#released) return;
    if (heartbeat.isFromEarlierStart(this.#heldLease) && !(await this.#resumeOnce()))
      this.#heldLease.isLost = true;
  }

  /** Whether the lease may end before the holder's next check. */
  get #isUrgent(): boolean {
    return this.#remainingMs <= HEARTBEAT_MS + TIMER_TOLERANCE_MS;
  }

  /**
   * Does not wait for the regular heartbeat. Urgent leases of one moment still share few messages: each heartbeat names all
   * leases.
   */
  async #heartbeatUrgently(isUnconfirmed: boolean): Promise<void> {
    const { heartbeat, clock } = this.#context;
    for (let waitMs = heartbeat.urgentDueInMs; waitMs > 0; waitMs = heartbeat.urgentDueInMs) {
      await sleep(waitMs, clock);
      const isRenewed = isUnconfirmed ? this.#heldLease.isConfirmed : !this.#isUrgent;
      const isDone = isRenewed || this.#heldLease.isLost || heartbeat.isFromEarlierStart(this.#heldLease);
      if (isDone || this.#released) return;
    }
    await this.#sendHeartbeat();
  }

  #sendHeartbeat(): Promise<void> {
    const { pool, heartbeat, clock } = this.#context;
    return heartbeat.sendHeartbeat((isolate, leases, known) =>
      callPool(pool, clock, (stub) => stub.beat(isolate, leases, known)),
    );
  }

  /** Calls the stub, or a new one if it is dead. Null if the lease has ended. */
  async #call<T>(call: (stub: LeaseStub) => Promise<T>): Promise<T | null> {
    if (this.#released) return null;
    try {
      return await call(this.#stub);
    } catch {
      // A lease's methods never throw: an error means that the stub is dead.
      return (await this.#resumeOnce()) ? call(this.#stub) : null;
    }
  }

  /** Resumes the lease on a restarted pool; concurrent callers share one attempt. False if the lease has ended. */
  #resumeOnce(): Promise<boolean> {
    this.#resuming ??= this.#resumeLease().finally(() => {
      this.#resuming = null;
    });
    return this.#resuming;
  }

  async #resumeLease(): Promise<boolean> {
    if (this.#released || this.#heldLease.isLost) return false;
    const { pool, heartbeat, clock } = this.#context;
    let sentAt = clock.now();
    const reply = await callPool(pool, clock, (stub) => {
      sentAt = clock.now();
      heartbeat.noteRegistration();
      return stub.resume(this.#heldLease.name, this.account.id, this.#holder, heartbeat.isolate);
    });
    if (reply === null) return false;
    if (this.#released) {
      reply[Symbol.dispose]();
      return false;
    }
    this.#reply[Symbol.dispose]();
    this.#heldLease.name = reply.name;
    this.#heldLease.confirm(sentAt);
    heartbeat.noteGrantedLease(reply.name);
    heartbeat.tick(this.#heldLease);
    this.#stub = reply.lease;
    this.#reply = reply;
    return true;
  }
}
