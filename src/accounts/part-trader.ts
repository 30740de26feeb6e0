import type { PoolConfiguration } from "../platform/accounts.ts";
import type { Clock } from "./clock.ts";
import {
  LimitPart,
  PARTED_LIMITS,
  type PartAnswer,
  type PartAsk,
  type PartedLimit,
  type PartLayout,
  type PartUse,
} from "./limit-part.ts";
import type { PartStore } from "./pool-store.ts";
import type { LimitParts } from "./slot-limits.ts";

/** A shard asks so many others at first, and twice as many each time that none of them had anything. */
const AT_ONCE = 2;
/** One that had nothing is left alone for so long, milliseconds, and longer where there are many. */
const PAUSE_MS = 1_000;
const PAUSE_EACH_MS = 60;
/** The same while a request would be turned away, or all that wait have no part at all. */
const EAGER_MS = 100;
const EAGER_EACH_MS = 30;
/** For how long a request goes on asking those who gather parts themselves, milliseconds: they may not need all of them in the end. */
const SETTLE_MS = 300;
/** One that is not of the layout any more, and has nothing left. */
const GONE_MS = 60_000;
/** An answer that takes longer, milliseconds, is not waited for. It counts when it comes. */
const SILENT_MS = 750;
/** For how long requests wait at most for what a shard is given that has just been added, milliseconds. */
const BEGUN_MS = 2_000;

/** One message, about both limits. Plain data. */
export type PartAsks = { readonly [limit in PartedLimit]?: PartAsk };
export type PartAnswers = {
  readonly [limit in PartedLimit]?: PartAnswer & {
    /** Who else has some, as far as the one that answers knows, and how many units. */
    readonly rich?: readonly [peer: string, spare: number];
    /** The one that answers gathers parts itself just now: it may have some to give in a moment. */
    readonly gathers?: true;
  };
};

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

const NEVER = { until: 0, eagerUntil: 0 };

/** What a trader knows of one limit. */
class Side {
  readonly part: LimitPart;
  /** A request was turned away, of late, since there was no part left. */
  turnedAway = false;
  /** Somebody waits for what others say: they are asked soon again. */
  isEager = false;
  /** A request waits here until others have been asked. */
  isSought = false;
  /** How many are being asked for more. */
  asking = 0;
  /** How many are asked next. */
  atOnce = AT_ONCE;
  /** There is nobody to ask for more until then. */
  quietUntil = 0;
  #peers: readonly string[] = [];
  /** Until when which one is left alone; and when somebody is eager. */
  readonly #paused = new Map<string, { readonly until: number; readonly eagerUntil: number }>();
  /** When which one was asked for more, urgently. */
  readonly #askedAt = new Map<string, number>();
  /** Who gathered parts when it was asked last. */
  readonly #gathering = new Set<string>();
  /** Who may have given something of which nothing has been heard: they are asked what it was. */
  readonly #unheard = new Set<string>();
  /** What others would give, in units, as far as it is known. */
  readonly #spare = new Map<string, number>();

  constructor(name: string, limit: PartedLimit, store: PartStore) {
    this.part = new LimitPart(name, limit, store);
  }

  configure(peers: readonly string[], founders: readonly string[]): void {
    // An earlier start may have asked them.
    for (const peer of peers) if (!this.#peers.includes(peer)) this.#unheard.add(peer);
    this.#peers = peers;
    this.#paused.clear();
    this.turnedAway = false;
    this.isEager = false;
    this.quietUntil = 0;
    // If nothing is known of anybody they have the most.
    for (const peer of founders) if (!this.#spare.has(peer)) this.#spare.set(peer, 1);
  }

  get pauseMs(): number {
    return Math.max(PAUSE_MS, PAUSE_EACH_MS * this.#peers.length);
  }

  /** A peer is being asked for more, urgently. */
  asks(peer: string, now: number): void {
    this.#askedAt.set(peer, now);
  }

  /** A peer has got some from here. */
  gave(peer: string): void {
    this.#askedAt.delete(peer);
    this.#gathering.add(peer);
  }

  /** Whether somebody may have some that has not been asked since then. */
  isOpen(since: number, now: number): boolean {
    if (!this.part.isPartial) return false;
    const wasAsked = (peer: string) => (this.#askedAt.get(peer) ?? Number.NEGATIVE_INFINITY) >= since;
    const isNew = now < since + SETTLE_MS;
    return this.#peers.some((peer) => {
      const { until, eagerUntil } = this.#paused.get(peer) ?? NEVER;
      if (until <= now) return true;
      return eagerUntil < until && (!wasAsked(peer) || (isNew && this.#gathering.has(peer)));
    });
  }

  /** Whom to ask for so many units now: those first that have most. */
  ready(missing: number, now: number): readonly string[] {
    const ready = this.#peers.filter((peer) => this.#pausedUntil(peer, now) <= now);
    const spare = (peer: string) => this.#spare.get(peer) ?? 0;
    ready.sort((one, other) => spare(other) - spare(one));
    const [richest = ""] = ready;
    return ready.slice(0, spare(richest) >= missing ? 1 : this.atOnce);
  }

  /** Of whom an answer is missing, and who may be asked for it now. */
  unheard(now: number): readonly string[] {
    return this.#peers.filter((peer) => this.#unheard.has(peer) && this.#pausedUntil(peer, now) <= now);
  }

  /** Nothing can come that it does not know of. */
  get isHeard(): boolean {
    return this.#unheard.size === 0;
  }

  isQuiet(now: number): boolean {
    return now < this.quietUntil && this.quietUntil <= now + Math.max(GONE_MS, this.pauseMs);
  }

  /** When one of them may be asked for more; `Infinity` when there is nobody, ever. */
  nextReady(now: number): number {
    return Math.min(...this.#peers.map((peer) => this.#pausedUntil(peer, now)));
  }

  /** When one of them may be asked for what it has given; `Infinity` when it is known. */
  nextUnheard(now: number): number {
    return Math.min(...Array.from(this.#unheard, (peer) => this.#pausedUntil(peer, now)));
  }

  /** A clock may be set back. */
  #pausedUntil(peer: string, now: number): number {
    const paused = this.#paused.get(peer) ?? NEVER;
    const until = this.isEager ? paused.eagerUntil : paused.until;
    return until <= now + Math.max(GONE_MS, this.pauseMs) ? until : 0;
  }

  heard(peer: string, { units }: PartAsk, answer: PartAnswers[PartedLimit], now: number): void {
    if (answer === undefined) {
      this.#unheard.add(peer);
      this.#spare.set(peer, 0);
      this.#pause(peer, now, this.pauseMs);
      return;
    }
    this.#unheard.delete(peer);
    if (answer.gathers === true) this.#gathering.add(peer);
    else this.#gathering.delete(peer);
    const more = this.part.told(peer, answer.given);
    this.#spare.set(peer, answer.spare);
    if (answer.rich !== undefined) this.#spare.set(...answer.rich);
    if (more > 0) this.atOnce = AT_ONCE;
    if (answer.gone === true) this.#pause(peer, now, GONE_MS);
    else if (units > 0 && (more === 0 || answer.spare === 0))
      this.#pause(peer, now, this.pauseMs, Math.max(EAGER_MS, EAGER_EACH_MS * this.#peers.length));
  }

  #pause(peer: string, now: number, ms: number, eagerMs = ms): void {
    this.#paused.set(peer, { until: now + ms, eagerUntil: now + eagerMs });
  }

  /** Who has most besides one, as far as it is known. */
  richBut(peer: string): readonly [peer: string, spare: number] | undefined {
    let rich: readonly [string, number] = ["", 1];
    for (const [other, spare] of this.#spare) if (other !== peer && spare > rich[1]) rich = [other, spare];
    return rich[0] === "" ? undefined : rich;
  }
}

/**
 * Trades a shard's parts of the limits with the other shards: asks them when requests wait, or are turned away, for want of a part,
 * and answers them. To be told by the pool when that may be so (`PoolOptions.short`). With no limit set it does nothing.
 */
export class PartTrader {
  readonly #options: TraderOptions;
  readonly #sides: Readonly<Record<PartedLimit, Side>>;
  /** Messages that answers are waited for. */
  #asking = 0;
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
    this.#sides = { global: new Side(name, "global", store), queue: new Side(name, "queue", store) };
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
    const open = limits.filter((limit) => this.#sides[limit].isOpen(since, now));
    for (const limit of open) this.#sides[limit].isEager = true;
    this.look();
    const isAsking = limits.some((limit) => this.#sides[limit].asking > 0);
    const isSoonAsking = open.length > 0 && (this.#asking > 0 || this.#retryAt < Number.POSITIVE_INFINITY);
    const mayServe = limits.includes("queue") && now < since + SETTLE_MS && this.#mayServe;
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
      const { missing, peers } = this.#wants(limit, now);
      // A little more than each one's share, for some will have nothing.
      for (const peer of peers) {
        ask(peer, Math.min(1, AT_ONCE / peers.length) * missing);
        if (isUrgent) side.asks(peer, now);
      }
      retryAt = Math.min(retryAt, side.nextUnheard(now));
      if (side.isQuiet(now)) retryAt = Math.min(retryAt, side.quietUntil);
      side.isEager = false;
    }
    this.#retry(messages.size > 0 ? Number.POSITIVE_INFINITY : retryAt);
    for (const [peer, asks] of messages) this.#ask(peer, asks);
  }

  /** How many units of a limit are missing, and who is to be asked for them now. */
  #wants(limit: PartedLimit, now: number): { readonly missing: number; readonly peers: readonly string[] } {
    const side = this.#sides[limit];
    if (side.isQuiet(now) && !side.isEager) return { missing: 0, peers: [] };
    const missing = side.part.missing(this.#use(limit));
    side.turnedAway = false;
    if (missing === 0) {
      side.atOnce = AT_ONCE;
      return { missing, peers: [] };
    }
    const peers = side.ready(missing, now);
    if (peers.length === 0) side.quietUntil = side.nextReady(now);
    side.atOnce *= 2;
    return { missing, peers };
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
      const needed = isReady ? { ...use, wanted: side.isSought ? 1 : 0 } : use;
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
    let waiting = true;
    let stop = () => {};
    const heard = (answers: PartAnswers) => {
      const late = !waiting;
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
    send(peer, asks).then(heard, () => {
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
