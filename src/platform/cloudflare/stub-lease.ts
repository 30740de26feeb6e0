import { type Heartbeat, HeldLease } from "../../pool/heartbeat.ts";
import { BEAT_MS, YOUNG_HOLD_MS } from "../../pool/lease-life.ts";
import { type Holder, SLOT_RECLAIMED } from "../../pool/leases.ts";
import type { Grant } from "../../pool/waiting-queue.ts";
import type { AccountFailure, Lease, LeasedAccount, SignedIn, TokenAnswer } from "../accounts.ts";
import { pause } from "../clock.ts";
import { call, type HolderClock, type LeaseStub, type OnePool } from "./pool-stub.ts";

/**
 * How long a lease holder that was stalled keeps asking about its lease after the lease's time is over. In a busy isolate
 * both timers and answers are late: that is no reason to end an answer that a caller is reading.
 */
const LATE_MS = 2_000;

/** How often a holder asks again when its clock is set repeatedly while the pool answers. */
const MAX_PROOFS = 4;

/** Timers of a running isolate are never later than this. */
const PUNCTUAL_MS = 100;

/** A holder that checks its lease this late was stalled, or its clock was set. */
const MISSED_MS = BEAT_MS + PUNCTUAL_MS;

/** Pause before asking again after no answer from the pool. */
const AGAIN_MS = 50;

/** Remaining time of a lease, milliseconds, at which a lease that took long to arrive is confirmed. */
const FIRST_LOOK_MS = 700;

/** How long a lease that no heartbeat has named yet waits for other new leases, milliseconds. */
const NEWCOMER_MS = 100;

/** What the leases of an isolate share. */
export interface Surroundings {
  readonly pool: OnePool;
  readonly heartbeat: Heartbeat;
  readonly clock: HolderClock;
}

/**
 * Resolves when `work` settles, or after `ms` milliseconds. Meanwhile it checks the clock and calls `late` after a stall.
 * Without that, an isolate that was stalled until just after the end would not notice.
 */
async function atMost(
  ms: number,
  work: Promise<unknown>,
  { now, setTimer }: HolderClock,
  late: () => void,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let stopLooking = () => {};
  const look = () => {
    const due = now() + PUNCTUAL_MS;
    stopLooking = setTimer(PUNCTUAL_MS, () => {
      if (now() - due > PUNCTUAL_MS) late();
      look();
    });
  };
  look();
  const stop = setTimer(ms, resolve);
  work.then(
    () => resolve(),
    () => resolve(),
  );
  await promise;
  stop();
  stopLooking();
}

/**
 * A lease held over RPC. Disposing of the stub releases the slot: that needs no extra message, and the runtime also does it
 * when the request dies. After a restart of the pool object the stubs are dead but the slot is still held. The first to
 * notice, a call or the isolate's heartbeat, resumes the lease on the new object.
 */
export class StubLease implements Lease {
  readonly account: LeasedAccount;
  readonly initialToken: string | null;
  readonly #around: Surroundings;
  readonly #holder: Holder;
  readonly #held: HeldLease;
  /** When the holder last checked the lease. */
  #lookedAt: number;
  /** When the holder was last found to have been stalled. */
  #keptAt = Number.NEGATIVE_INFINITY;
  #stub: LeaseStub;
  /** The RPC reply that carries the stub; disposing of it ends the lease. */
  #owned: Disposable;
  #failing: boolean;
  #released = false;
  #resuming: Promise<boolean> | null = null;
  #stopLooking = () => {};

  /**
   * @param sentAt when the request that this lease answers was sent, or a later time at which the pool did not know it yet
   */
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
    this.#lookedAt = around.clock.now();
    this.#stub = stub;
    this.#owned = owned;
    around.heartbeat.met(granted.lease);
    // Heartbeats of other requests name it before its own first one is due.
    around.heartbeat.tick(this.#held);
  }

  async token(stale?: string): Promise<TokenAnswer> {
    return (await this.#call((stub) => stub.token(stale))) ?? SLOT_RECLAIMED;
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
    // A set clock cannot be told from a stalled isolate.
    if (clock.now() - this.#lookedAt > MISSED_MS) this.#wasKept();
    this.#lookedAt = clock.now();
    const isInTime = this.#left > 0;
    if (isInTime && (await this.#renewedInTime())) return true;
    if (this.#isOver) return false;
    // A holder that was running when the time ended gives up: it does not ask once more.
    const wasThere = isInTime && clock.now() < this.#held.until + PUNCTUAL_MS;
    // A stalled holder could not end its work in time. The pool knows whether the slot is still held.
    let ms = wasThere ? Math.min(LATE_MS, this.#keptAt + LATE_MS - clock.now()) : LATE_MS;
    for (let tries = MAX_PROOFS; ms > 0; tries -= 1) {
      const { heard } = this.#held;
      await this.#ask(ms);
      ms = LATE_MS;
      if (this.#isOver) return false;
      if (this.#left > 0) return true;
      // The pool has just confirmed the lease. If its time is over all the same, the clock was set meanwhile.
      if (this.#held.heard === heard || tries === 1) return false;
    }
    return false;
  }

  /**
   * Asks the pool until it confirms the lease, for at most `ms` milliseconds. A failed heartbeat does not count, nor one
   * that another request sent before it knew of this lease.
   */
  async confirm(ms: number): Promise<boolean> {
    const { clock, heartbeat } = this.#around;
    const { promise: confirmed, resolve } = Promise.withResolvers<void>();
    this.#held.onConfirmed = resolve;
    const end = clock.now() + ms;
    for (let left = ms; left > 0 && !this.#isOver; left = end - clock.now()) {
      heartbeat.tick(this.#held);
      await atMost(left, Promise.race([confirmed, this.#hear(true)]), clock, () => this.#wasKept());
      if (this.#isOver || this.#held.confirmed) break;
      await pause(Math.min(AGAIN_MS, left), clock);
    }
    this.#lookedAt = clock.now();
    return this.#held.confirmed && !this.#isOver && this.#left > 0;
  }

  /** Confirms a lease that is already in use before its first regular check. The caller does not wait for the answer. */
  lookSoon(): void {
    const { clock, heartbeat } = this.#around;
    this.#stopLooking = clock.setTimer(Math.max(0, this.#left - FIRST_LOOK_MS), () => {
      if (this.#isOver || this.#held.confirmed) return;
      heartbeat.tick(this.#held);
      this.#hear(true).catch(() => undefined);
    });
  }

  /**
   * True once the lease lasts until the holder's next check. Until then this waits until the lease's end: messages may fail
   * at once, and timers may fire slightly early.
   */
  async #renewedInTime(): Promise<boolean> {
    const { clock } = this.#around;
    for (let left = this.#left; left > 0; left = this.#left) {
      await this.#ask(left);
      if (this.#isOver) return false;
      if (!this.#isUrgent) return true;
      const due = clock.now() + AGAIN_MS;
      await pause(Math.min(AGAIN_MS, Math.max(0, this.#left)), clock);
      if (clock.now() - due > PUNCTUAL_MS) this.#wasKept();
    }
    return false;
  }

  #wasKept(): void {
    this.#keptAt = this.#around.clock.now();
  }

  /** Milliseconds for which the slot may be used without hearing from the pool. */
  get #left(): number {
    return this.#held.until - this.#around.clock.now();
  }

  /** Whether the lease is released or lost. */
  get #isOver(): boolean {
    return this.#released || this.#held.lost;
  }

  /** Sends a heartbeat for the lease if necessary, and waits for it at most `ms` milliseconds. */
  async #ask(ms: number): Promise<void> {
    if (this.#released) return;
    const { heartbeat, clock } = this.#around;
    heartbeat.tick(this.#held);
    await atMost(ms, this.#hear(), clock, () => this.#wasKept());
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
    this.#stopLooking();
    this.#owned[Symbol.dispose]();
    const { heartbeat, clock } = this.#around;
    heartbeat.remove(this.#held);
    // A pool that has just restarted would otherwise wait for this isolate in vain.
    if (heartbeat.isNamed && heartbeat.size === 0) clock.waitUntil(this.#farewell().catch(() => undefined));
  }

  /** Reports that the isolate holds no leases; again if the pool has restarted meanwhile. */
  async #farewell(): Promise<void> {
    const { heartbeat } = this.#around;
    const { start } = heartbeat;
    await this.#beat();
    if (heartbeat.size === 0 && heartbeat.start !== start) await this.#beat();
  }

  [Symbol.dispose](): void {
    this.release();
  }

  /** Sends the isolate's heartbeat if it is due. Resumes the lease if any heartbeat has shown that the pool restarted. */
  async #hear(soon = false): Promise<void> {
    const { heartbeat, clock } = this.#around;
    if (!heartbeat.isOld(this.#held)) {
      if (soon || this.#isUrgent) await this.#hearSoon(soon);
      else {
        const { sentAt } = heartbeat;
        const newcomer = !this.#held.confirmed;
        // New leases of one moment share a heartbeat. Its answer must arrive before the first of them has to stop.
        if (newcomer && heartbeat.dueIn > 0) await pause(Math.min(heartbeat.dueIn, NEWCOMER_MS), clock);
        const isDue = heartbeat.dueIn <= 0 || (newcomer && heartbeat.sentAt === sentAt);
        if (!this.#released && isDue) await this.#beat();
      }
    }
    if (this.#released) return;
    if (heartbeat.isOld(this.#held) && !(await this.#resume())) this.#held.lost = true;
  }

  /** Whether the lease may end before the holder's next check. */
  get #isUrgent(): boolean {
    return this.#left <= BEAT_MS + PUNCTUAL_MS;
  }

  /**
   * Does not wait for the regular heartbeat. Urgent leases of one moment still share few messages: each heartbeat names all
   * leases.
   */
  async #hearSoon(unconfirmed: boolean): Promise<void> {
    const { heartbeat, clock } = this.#around;
    for (let wait = heartbeat.urgentIn; wait > 0; wait = heartbeat.urgentIn) {
      await pause(wait, clock);
      const isHeard = unconfirmed ? this.#held.confirmed : !this.#isUrgent;
      const heard = isHeard || this.#held.lost || heartbeat.isOld(this.#held);
      if (heard || this.#released) return;
    }
    await this.#beat();
  }

  #beat(): Promise<void> {
    const { pool, heartbeat, clock } = this.#around;
    return heartbeat.beat((isolate, leases, known) =>
      call(pool, clock, (stub) => stub.beat(isolate, leases, known)),
    );
  }

  /** Calls the stub, or a new one if it is dead. Null if the lease has ended. */
  async #call<T>(use: (stub: LeaseStub) => Promise<T>): Promise<T | null> {
    if (this.#released) return null;
    try {
      return await use(this.#stub);
    } catch {
      // A lease's methods never throw: an error means that the stub is dead.
      return (await this.#resume()) ? use(this.#stub) : null;
    }
  }

  /** Resumes the lease on a restarted pool; concurrent callers share one attempt. False if the lease has ended. */
  #resume(): Promise<boolean> {
    this.#resuming ??= this.#takeOver().finally(() => {
      this.#resuming = null;
    });
    return this.#resuming;
  }

  async #takeOver(): Promise<boolean> {
    if (this.#released || this.#held.lost) return false;
    const { pool, heartbeat, clock } = this.#around;
    let sentAt = clock.now();
    const reply = await call(pool, clock, (stub) => {
      sentAt = clock.now();
      heartbeat.naming();
      return stub.resume(this.#held.name, this.account.id, this.#holder, heartbeat.isolate);
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
