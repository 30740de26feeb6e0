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

/** A request for shares counts as urgent for two round trips plus this time, milliseconds. */
const WANTED_MS = 100;
/** An answer that takes longer than this, milliseconds, is not waited for. It still counts when it arrives. */
const SILENT_MS = 750;
/**
 * How long a request keeps asking peers that collect shares themselves: the duration of `SETTLE_ROUNDS` sequential round
 * trips, at least `SETTLE_MS` and at most `MAX_SETTLE_MS`. Shards that collect at the same time exchange their shares a few
 * times until one has enough.
 */
const SETTLE_ROUNDS = 12;
const SETTLE_MS = 300;
const LONGEST_SETTLE_MS = 2_000;
/** How long requests wait at most for the first share of a newly added shard, milliseconds. */
const BEGUN_MS = 2_000;

/** The pool as far as its shares are concerned: an `AccountPool`. */
export interface PartedPool {
  configure(configuration: PoolConfiguration): boolean;
  partUses(): Readonly<Record<PartedLimit, PartUse>>;
  takeParts(parts: LimitParts): void;
}

/** Dependencies of {@link LimitRebalancer}. */
export interface TraderOptions extends Clock {
  /** This shard's name. */
  readonly name: string;
  readonly store: PartStore;
  readonly pool: PartedPool;
  /** Sends a message to `handleRequest` of another shard. It may be lost, repeated or late, or the promise may reject. */
  readonly send: (to: string, asks: PartAsks) => Promise<PartAnswers>;
}

/**
 * Rebalances this shard's shares of the limits with the other shards. It asks them when requests wait or are rejected
 * because a share is exhausted, and it answers their requests. The pool must call `onLimitExhausted` (`PoolOptions`).
 * Without a limit it does nothing.
 */
export class PartTrader {
  readonly #options: TraderOptions;
  readonly #sides: Readonly<Record<PartedLimit, LimitSide>>;
  /** Number of messages without an answer so far. */
  #asking = 0;
  /** Recent round-trip time of an answer, milliseconds. */
  #roundMs = 0;
  /** Resolves when a newly added shard has the answers to its first requests. */
  #begun: PromiseWithResolvers<void> | null = null;
  #stopBegun = () => {};
  /** Number of other shards in the current and earlier layouts. */
  #peers = 0;
  #retryAt = Number.POSITIVE_INFINITY;
  #stopRetry = () => {};
  #stopRelax = () => {};
  #taken: LimitParts | null = null;
  /** Limits because of which a request was rejected, until `takeExhaustedLimits` reads them. */
  readonly #turned = new Set<PartedLimit>();
  /** Resolves when there may be more shares. */
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
   * Passes a configuration to the pool, and applies the limits and the shards that share them. Returns false when the pool
   * already has a newer configuration.
   */
  configure(layout: PartLayout, configuration: PoolConfiguration): boolean {
    const { limits } = configuration;
    if (!this.#options.pool.configure(configuration)) return false;
    const { name } = this.#options;
    const all = [...new Set([...layout.shards, ...(layout.former ?? [])])];
    // Each shard starts with its successor, so that not all shards ask the same peer.
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
   * A promise that requests should wait for, so that they do not meet a newly added shard without a share: one round trip,
   * at most two seconds. Null: nothing to wait for.
   */
  get begun(): Promise<void> | null {
    return this.#begun?.promise ?? null;
  }

  /** The current shares; null where no limit is set. */
  get parts(): LimitParts {
    const { global, queue } = this.#sides;
    return { global: global.part.slots, queue: queue.part.slots };
  }

  /** The pool reports that requests wait, or that one was rejected, because a share is exhausted. */
  short(limit: PartedLimit, turnedAway: boolean): void {
    if (turnedAway) {
      this.#sides[limit].turnedAway = true;
      this.#turned.add(limit);
    }
    this.look();
  }

  /** Returns and clears the limits because of which requests were rejected. */
  takeTurned(): PartedLimit[] {
    const turned = [...this.#turned];
    this.#turned.clear();
    return turned;
  }

  /**
   * Requests shares urgently because a request would be rejected; it also asks peers that recently had nothing.
   *
   * @param since when the request arrived, Unix milliseconds
   * @returns a promise that resolves when there may be more; null: since then all peers have reported that they have none
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

  /** Whether requests wait only for a share of the global limit: they leave the queue as soon as there is one. */
  get #mayServe(): boolean {
    return this.#sides.global.part.isPartial && this.#options.pool.partUses().global.wanted > 0;
  }

  #mayHaveMore(): void {
    for (const limit of PARTED_LIMITS) this.#sides[limit].isSought = false;
    this.#sought?.resolve();
    this.#sought = null;
  }

  /** Sends requests to the peers that can be asked now. */
  look(): void {
    if (this.#peers === 0 || this.#asking > 0) return;
    const now = this.#options.now();
    const messages = new Map<string, Partial<Record<PartedLimit, PartAsk>>>();
    let retryAt = Number.POSITIVE_INFINITY;
    for (const limit of PARTED_LIMITS) {
      const side = this.#sides[limit];
      if (side.part.slots === null) continue;
      // Without any share no waiting request could be served.
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

  /** Handles a request of another shard. Units that it gives are stored before this returns. */
  asked(peer: string, asks: PartAsks): PartAnswers {
    const now = this.#options.now();
    const answers: { -readonly [limit in PartedLimit]?: NonNullable<PartAnswers[PartedLimit]> } = {};
    for (const limit of PARTED_LIMITS) {
      const ask = asks[limit];
      if (ask === undefined) continue;
      const side = this.#sides[limit];
      const use = this.#use(limit);
      // Requests that wait here already have their place: free room in the queue goes to shards that have none.
      const isReady = limit === "queue" && ask.urgent === true;
      // Shards that all have a request about to be rejected must not pass the same units around for ever. The shard with a
      // waiting request gets them.
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
    // Units owed to the peer could not be used here, so the pool does not notice their loss; waiting requests need others.
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
      // The clock may be set. Only answers update the round-trip time, not timeouts.
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
        // What could not be stored from this answer arrives with the next one.
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

  /** Tells the pool how many slots it may use now, and again when a reservation ends. */
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
