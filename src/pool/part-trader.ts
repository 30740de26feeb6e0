import type { Clock } from "../platform/clock.ts";
import type { PoolConfiguration } from "../platform/pool-configuration.ts";
import {
  PARTED_LIMITS,
  type PartAsk,
  type PartedLimit,
  type PartLayout,
  type PartUse,
} from "./limit-part.ts";
import { LimitSide, type PartAnswers, type PartAsks, shareOf } from "./limit-side.ts";
import type { PartStore } from "./pool-store.ts";
import type { LimitParts } from "./slot-limits.ts";

/** What was asked for urgently is wanted for so much longer than two answers take, milliseconds. */
const WANTED_MS = 100;
/** An answer that takes longer, milliseconds, is not waited for. It counts when it comes. */
const SILENT_MS = 750;
/**
 * For how long a request goes on asking those who gather parts themselves: for as long as so many questions take that are asked one after
 * the other, and so many milliseconds at least, and at most. Shards that gather at once exchange what they have some times until one has all.
 */
const SETTLE_ROUNDS = 12;
const SETTLE_MS = 300;
const LONGEST_SETTLE_MS = 2_000;
/** For how long requests wait at most for what a shard is given that has just been added, milliseconds. */
const BEGUN_MS = 2_000;

/** The pool, as far as its parts are concerned: an `AccountPool`. */
export interface PartedPool {
  configure(configuration: PoolConfiguration): boolean;
  partUses(): Readonly<Record<PartedLimit, PartUse>>;
  takeParts(parts: LimitParts): void;
}

/** What a trader needs from where it runs. */
export interface TraderOptions extends Clock {
  /** The shard's own name. */
  readonly name: string;
  readonly store: PartStore;
  readonly pool: PartedPool;
  /** Hands a message to `asked` of another shard's trader. May be lost, repeated, late, or reject. */
  readonly send: (to: string, asks: PartAsks) => Promise<PartAnswers>;
}

/**
 * Trades a shard's parts of the limits with the other shards: asks them when requests wait, or are turned away, for want of a part,
 * and answers them. To be told by the pool when that may be so (`PoolOptions.short`). With no limit set it does nothing.
 */
export class PartTrader {
  readonly #options: TraderOptions;
  readonly #sides: Readonly<Record<PartedLimit, LimitSide>>;
  /** Messages that answers are waited for. */
  #asking = 0;
  /** How long an answer takes, of late, milliseconds. */
  #roundMs = 0;
  /** Resolves when a shard that has just been added has heard from those that it has asked first. */
  #begun: PromiseWithResolvers<void> | null = null;
  #stopBegun = () => {};
  /** How many other shards there are, or were. */
  #peers = 0;
  #retryAt = Number.POSITIVE_INFINITY;
  #stopRetry = () => {};
  #stopRelax = () => {};
  #taken: LimitParts | null = null;
  /** Limits for want of which a request was turned away, until somebody asks which. */
  readonly #turned = new Set<PartedLimit>();
  /** Resolves when there may be more than there was. */
  #sought: PromiseWithResolvers<void> | null = null;

  constructor(options: TraderOptions) {
    this.#options = options;
    const { name, store } = options;
    this.#sides = {
      global: new LimitSide(name, "global", store),
      queue: new LimitSide(name, "queue", store),
    };
  }

  /**
   * Has the pool take over a configuration, and takes over who shares the limits, and what they are. False: the pool has a newer one.
   */
  configure(layout: PartLayout, configuration: PoolConfiguration): boolean {
    const { limits } = configuration;
    if (!this.#options.pool.configure(configuration)) return false;
    const { name } = this.#options;
    const all = [...new Set([...layout.shards, ...(layout.former ?? [])])];
    // Each begins with the one after itself, lest all ask the same.
    const own = all.indexOf(name);
    const peers = [...all.slice(own + 1), ...all.slice(0, Math.max(0, own))];
    for (const limit of PARTED_LIMITS) {
      this.#sides[limit].part.configure(limits[limit], layout);
      this.#sides[limit].configure(peers, layout.founders);
    }
    this.#peers = peers.length;
    this.#apply();
    this.look();
    const isNew = PARTED_LIMITS.some((limit) => this.#sides[limit].part.isNew);
    if (isNew && this.#asking > 0 && this.#begun === null) {
      this.#begun = Promise.withResolvers();
      this.#stopBegun = this.#options.setTimer(BEGUN_MS, () => this.#hasBegun());
    }
    return true;
  }

  #hasBegun(): void {
    this.#stopBegun();
    this.#begun?.resolve();
    this.#begun = null;
  }

  /**
   * What requests had better wait for, lest they find a shard that has just been added without a part: one round trip, two
   * seconds at most. Null: nothing.
   */
  get begun(): Promise<void> | null {
    return this.#begun?.promise ?? null;
  }

  /** The parts as they are; null where no limit is set. */
  get parts(): LimitParts {
    const { global, queue } = this.#sides;
    return { global: global.part.slots, queue: queue.part.slots };
  }

  /** Requests wait for want of a part, or one was turned away. */
  short(limit: PartedLimit, turnedAway: boolean): void {
    if (turnedAway) {
      this.#sides[limit].turnedAway = true;
      this.#turned.add(limit);
    }
    this.look();
  }

  /** For want of parts of which limits requests were turned away since it was asked last. */
  takeTurned(): PartedLimit[] {
    const turned = [...this.#turned];
    this.#turned.clear();
    return turned;
  }

  /**
   * Asks for parts of limits, for want of which a request would be turned away: also those that have just had nothing.
   *
   * @param since when the request came, Unix milliseconds
   * @returns a promise that resolves when there may be more than there was; null: all have said since then that they have none
   */
  seek(limits: readonly PartedLimit[], since: number): Promise<void> | null {
    const now = this.#options.now();
    const settleMs = Math.max(SETTLE_MS, SETTLE_ROUNDS * this.#roundMs);
    const isNew = now < since + Math.min(LONGEST_SETTLE_MS, settleMs);
    const open = limits.filter((limit) => this.#sides[limit].isOpen(since, now, isNew));
    for (const limit of open) this.#sides[limit].isEager = true;
    this.look();
    const isAsking = limits.some((limit) => this.#sides[limit].asking > 0);
    const isSoonAsking = open.length > 0 && (this.#asking > 0 || this.#retryAt < Number.POSITIVE_INFINITY);
    const mayServe = limits.includes("queue") && isNew && this.#mayServe;
    if (!isAsking && !isSoonAsking && !mayServe) return null;
    for (const limit of limits) this.#sides[limit].isSought = true;
    this.#sought ??= Promise.withResolvers();
    return this.#sought.promise;
  }

  /** Requests wait for want of a part of the global limit alone: they leave the queue as soon as there is one. */
  get #mayServe(): boolean {
    return this.#sides.global.part.isPartial && this.#options.pool.partUses().global.wanted > 0;
  }

  #mayHaveMore(): void {
    for (const limit of PARTED_LIMITS) this.#sides[limit].isSought = false;
    this.#sought?.resolve();
    this.#sought = null;
  }

  /** Asks whom there is to ask. */
  look(): void {
    if (this.#peers === 0 || this.#asking > 0) return;
    const now = this.#options.now();
    const messages = new Map<string, Partial<Record<PartedLimit, PartAsk>>>();
    let retryAt = Number.POSITIVE_INFINITY;
    for (const limit of PARTED_LIMITS) {
      const side = this.#sides[limit];
      if (side.part.slots === null) continue;
      // With no part at all nobody that waits could be served.
      const isUrgent = side.isEager || side.turnedAway;
      side.isEager ||= limit === "global" && side.part.slots === 0;
      const ask = (peer: string, missing: number) =>
        messages.set(peer, { ...messages.get(peer), [limit]: side.part.ask(peer, missing, isUrgent) });
      for (const peer of side.unheard(now)) ask(peer, 0);
      const { missing, peers } = side.wants(() => this.#use(limit), now);
      for (const peer of peers) {
        ask(peer, shareOf(missing, peers.length));
        if (isUrgent) side.asks(peer, now);
      }
      retryAt = Math.min(retryAt, side.nextAsking(now));
      side.isEager = false;
    }
    this.#retry(messages.size > 0 ? Number.POSITIVE_INFINITY : retryAt);
    for (const [peer, asks] of messages) this.#ask(peer, asks);
  }

  /** Another shard asks. What it is given is stored already when this returns. */
  asked(peer: string, asks: PartAsks): PartAnswers {
    const now = this.#options.now();
    const answers: { -readonly [limit in PartedLimit]?: NonNullable<PartAnswers[PartedLimit]> } = {};
    for (const limit of PARTED_LIMITS) {
      const ask = asks[limit];
      if (ask === undefined) continue;
      const side = this.#sides[limit];
      const use = this.#use(limit);
      // Who waits here has its place: room for more is given to who has none.
      const isReady = limit === "queue" && ask.urgent === true;
      // Of those for whom a request may be turned away the same must not go round for ever. Who has one that waits gets it.
      const isAfter =
        limit === "global" && ask.urgent === true && side.hasAsked(now, 2 * this.#roundMs + WANTED_MS);
      const wanted = isReady ? (side.isSought ? 1 : 0) : Math.max(use.wanted, isAfter ? 1 : 0);
      const needed = { ...use, wanted: Math.min(wanted, Math.max(0, use.most - use.inUse)) };
      const gathers = side.isSought || (limit === "queue" && (side.asking > 0 || this.#mayServe));
      const before = side.part.units;
      const { gone, ...answer } = side.part.asked(peer, ask, needed, now);
      if (side.part.units < before) side.gave(peer);
      const isGone = gone === true && side.isHeard && this.#asking === 0;
      const rich = side.richBut(peer);
      answers[limit] = {
        ...answer,
        ...(isGone ? { gone } : {}),
        ...(rich === undefined ? {} : { rich }),
        ...(gathers ? { gathers } : {}),
      };
    }
    this.#apply();
    // What it owed it could not use: the pool does not notice that it has gone, and those who wait need another.
    this.look();
    return answers;
  }

  #use(limit: PartedLimit): PartUse {
    const use = this.#options.pool.partUses()[limit];
    const { turnedAway, isSought } = this.#sides[limit];
    const more = turnedAway || isSought ? 1 : 0;
    return { ...use, wanted: Math.min(Math.max(0, use.most - use.inUse), use.wanted + more) };
  }

  #ask(peer: string, asks: PartAsks): void {
    const { now, setTimer, send } = this.#options;
    this.#asking += 1;
    const asked = PARTED_LIMITS.filter((limit) => (asks[limit]?.units ?? 0) > 0);
    for (const limit of asked) this.#sides[limit].asking += 1;
    const sentAt = now();
    let waiting = true;
    let stop = () => {};
    const heard = (answers: PartAnswers) => {
      const late = !waiting;
      const ms = now() - sentAt;
      // A clock may be set. Who does not answer says nothing of the others.
      if (ms >= 0 && ms < SILENT_MS) this.#roundMs = Math.max(ms, (this.#roundMs + ms) / 2);
      for (const limit of PARTED_LIMITS) {
        const [ask, answer] = [asks[limit], answers[limit]];
        if (ask === undefined || (late && answer === undefined)) continue;
        this.#sides[limit].heard(peer, ask, answer, now());
      }
      this.#apply();
      if (late) return;
      waiting = false;
      stop();
      this.#asking -= 1;
      for (const limit of asked) this.#sides[limit].asking -= 1;
      this.look();
      if (this.#asking > 0) return;
      this.#hasBegun();
      this.#mayHaveMore();
    };
    stop = setTimer(SILENT_MS, () => heard({}));
    send(peer, asks)
      .then(heard)
      .catch(() => {
        // What could not be written down of an answer comes with the next.
        if (waiting) heard({});
      });
  }

  #retry(at: number): void {
    if (at === this.#retryAt) return;
    this.#stopRetry();
    this.#retryAt = at;
    if (at === Number.POSITIVE_INFINITY) return;
    this.#stopRetry = this.#options.setTimer(Math.max(0, at - this.#options.now()), () => {
      this.#retryAt = Number.POSITIVE_INFINITY;
      this.look();
      this.#mayHaveMore();
    });
  }

  /** Has the pool go by what it may use now, and again when that changes by itself. */
  #apply(): void {
    const { now, setTimer, pool } = this.#options;
    const at = now();
    const { global, queue } = this.#sides;
    const parts = { global: global.part.usable(at), queue: queue.part.usable(at) };
    this.#stopRelax();
    const until = Math.min(global.part.withheldUntil, queue.part.withheldUntil);
    this.#stopRelax =
      until === Number.POSITIVE_INFINITY
        ? () => {}
        : setTimer(Math.max(0, until - at), () => {
            this.#apply();
            this.look();
          });
    if (parts.global === this.#taken?.global && parts.queue === this.#taken.queue) return;
    this.#taken = parts;
    pool.takeParts(parts);
    this.#mayHaveMore();
  }
}
