import { type Heartbeat, HeldLease } from "../../pool/heartbeat.ts";
import { BEAT_MS, YOUNG_HOLD_MS } from "../../pool/lease-life.ts";
import { type Holder, SLOT_RECLAIMED } from "../../pool/leases.ts";
import type { Grant } from "../../pool/waiting-queue.ts";
import type { AccountFailure, Lease, LeasedAccount, SignedIn, TokenAnswer } from "../accounts.ts";
import { pause } from "../clock.ts";
import { call, type HolderClock, type LeaseStub, type OnePool } from "./pool-stub.ts";

/**
 * How long a holder asks after its lease that was kept from doing so for longer than the lease may be used unheard. An isolate
 * with much to do is late, and so are the answers that wait in it: that is no reason to end what a caller reads.
 */
const LATE_MS = 2_000;

/** How often a holder asks whose clock is set again and again while the pool answers. */
const MAX_PROOFS = 4;

/** A timer of a holder that runs is not later than this. */
const PUNCTUAL_MS = 100;

/** A holder that looks after its lease so late has been stopped meanwhile, or its clock was set. */
const MISSED_MS = BEAT_MS + PUNCTUAL_MS;

/** How long whoever got no word of the pool waits before it asks again. */
const AGAIN_MS = 50;

/** How much of its time is left to a lease that was long on its way when the pool is asked after it, milliseconds. */
const FIRST_LOOK_MS = 700;

/** How long a lease that no beat has named yet waits for others, milliseconds. */
const NEWCOMER_MS = 100;

/** What the leases of an isolate have in common. */
export interface Surroundings {
  readonly pool: OnePool;
  readonly heartbeat: Heartbeat;
  readonly clock: HolderClock;
}

/**
 * Resolves when `work` is over, however it ends, or after `ms` milliseconds. It looks at the clock meanwhile, and calls `late` if it
 * could not: whoever was stopped until a moment after the end would not know it otherwise.
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
 * A lease held over RPC. Disposing of the stub gives the slot back: nothing is sent for it beyond what the runtime sends
 * anyway, and it happens also when the request dies. When the pool object was restarted its stubs are dead, although the
 * slot is still ours: whoever notices, a call or the isolate's heartbeat, has the lease taken over on the new object.
 */
export class StubLease implements Lease {
  readonly account: LeasedAccount;
  readonly initialToken: string | null;
  readonly #around: Surroundings;
  readonly #holder: Holder;
  readonly #held: HeldLease;
  /** When its holder looked after it last. */
  #lookedAt: number;
  /** When it was seen last that its holder had been kept from running. */
  #keptAt = Number.NEGATIVE_INFINITY;
  #stub: LeaseStub;
  /** What ends with the lease: the stub that carries it. */
  #owned: Disposable;
  #failing: boolean;
  #released = false;
  #resuming: Promise<boolean> | null = null;
  #stopLooking = () => {};

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
    this.#lookedAt = around.clock.now();
    this.#stub = stub;
    this.#owned = owned;
    around.heartbeat.met(granted.lease);
    // The beats of others name it before its own first one is due.
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
    // One whose clock was set is told from one that was stopped by nobody.
    if (clock.now() - this.#lookedAt > MISSED_MS) this.#wasKept();
    this.#lookedAt = clock.now();
    const isInTime = this.#left > 0;
    if (isInTime && (await this.#renewedInTime())) return true;
    if (this.#isOver) return false;
    // Whoever was there when the time was over ends the work, and does not ask once more.
    const wasThere = isInTime && clock.now() < this.#held.until + PUNCTUAL_MS;
    // Whoever comes too late was kept from running, hence from ending anything. The pool knows whether the slot is still ours.
    let ms = wasThere ? Math.min(LATE_MS, this.#keptAt + LATE_MS - clock.now()) : LATE_MS;
    for (let tries = MAX_PROOFS; ms > 0; tries -= 1) {
      const { heard } = this.#held;
      await this.#ask(ms);
      ms = LATE_MS;
      if (this.#isOver) return false;
      if (this.#left > 0) return true;
      // The pool has said so just now: that its time is over all the same is a clock that was set while it did.
      if (this.#held.heard === heard || tries === 1) return false;
    }
    return false;
  }

  /**
   * Asks whether the slot is ours until the pool says so, `ms` milliseconds at most. A beat that fails, or that another request has
   * sent before it knew of this lease, is no word of it.
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

  /** Asks after a lease that is in use already before its holder looks after it: nobody waits for the answer. */
  lookSoon(): void {
    const { clock, heartbeat } = this.#around;
    this.#stopLooking = clock.setTimer(Math.max(0, this.#left - FIRST_LOOK_MS), () => {
      if (this.#isOver || this.#held.confirmed) return;
      heartbeat.tick(this.#held);
      this.#hear(true).catch(() => undefined);
    });
  }

  /**
   * True once the lease is good until the next time that its holder looks after it. While it is not, somebody has to be there when its
   * time is over: messages may fail at once, and timers go off a moment early.
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

  /** Milliseconds for which the slot may be used if nothing is heard of the pool. */
  get #left(): number {
    return this.#held.until - this.#around.clock.now();
  }

  /** Whether nobody needs it, or nobody has it, any more. */
  get #isOver(): boolean {
    return this.#released || this.#held.lost;
  }

  /** Has the pool hear of the lease if it must, and waits for that so many milliseconds at most. */
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
    // A pool that was restarted just now would wait for this isolate in vain.
    if (heartbeat.isNamed && heartbeat.size === 0) clock.waitUntil(this.#farewell().catch(() => undefined));
  }

  /** Says that the isolate holds nothing, also to a pool that has been restarted meanwhile. */
  async #farewell(): Promise<void> {
    const { heartbeat } = this.#around;
    const { start } = heartbeat;
    await this.#beat();
    if (heartbeat.size === 0 && heartbeat.start !== start) await this.#beat();
  }

  [Symbol.dispose](): void {
    this.release();
  }

  /** Sends the isolate's beat if it is due, and takes the lease over if a beat, also another request's, has shown that it must be. */
  async #hear(soon = false): Promise<void> {
    const { heartbeat, clock } = this.#around;
    if (!heartbeat.isOld(this.#held)) {
      if (soon || this.#isUrgent) await this.#hearSoon(soon);
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

  /** Whether the lease may end before its holder looks after it the next time. */
  get #isUrgent(): boolean {
    return this.#left <= BEAT_MS + PUNCTUAL_MS;
  }

  /** Does not wait for the next beat, and yet all that are in a hurry at the same time send few: each beat names all of them. */
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
