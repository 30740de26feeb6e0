import type { Clock } from "../core/ports/clock.ts";
import type { PoolConfiguration } from "../core/ports/pool-configuration.ts";
import {
  DISTRIBUTED_LIMITS,
  type DistributedLimit,
  type LimitLayout,
  type LimitUsage,
  type ShareRequest,
} from "./limit-share.ts";
import { PeerLimitState, type ShareAnswers, type ShareRequests, unitsPerPeer } from "./peer-limit-state.ts";
import type { LimitShareStore } from "./pool-store.ts";
import type { LimitShares } from "./slot-limits.ts";

/** A request for shares counts as urgent for two round trips plus this time, milliseconds. */
const WANTED_MS = 100;
/** An answer that takes longer than this, milliseconds, is not waited for. It still counts when it arrives. */
const ANSWER_TIMEOUT_MS = 750;
/**
 * How long a request keeps asking peers that collect shares themselves: the duration of `SETTLE_ROUNDS` sequential round
 * trips, at least `SETTLE_MS` and at most `MAX_SETTLE_MS`. Shards that collect at the same time exchange their shares a few
 * times until one has enough.
 */
const SETTLE_ROUNDS = 12;
const SETTLE_MS = 300;
const MAX_SETTLE_MS = 2_000;
/** How long requests wait at most for the first share of a newly added shard, milliseconds. */
const INITIAL_WAIT_MS = 2_000;

/** The pool as far as its shares are concerned: an `AccountPool`. */
export interface RebalancedPool {
  configure(configuration: PoolConfiguration): boolean;
  limitUsage(): Readonly<Record<DistributedLimit, LimitUsage>>;
  applyLimitShares(parts: LimitShares): void;
}

/** Dependencies of {@link LimitRebalancer}. */
export interface RebalancerOptions extends Clock {
  /** This shard's name. */
  readonly name: string;
  readonly store: LimitShareStore;
  readonly pool: RebalancedPool;
  /** Sends a message to `handleRequest` of another shard. It may be lost, repeated or late, or the promise may reject. */
  readonly send: (to: string, asks: ShareRequests) => Promise<ShareAnswers>;
}

/**
 * Rebalances this shard's shares of the limits with the other shards. It asks them when requests wait or are rejected
 * because a share is exhausted, and it answers their requests. The pool must call `onLimitExhausted` (`PoolOptions`).
 * Without a limit it does nothing.
 */
export class LimitRebalancer {
  readonly #options: RebalancerOptions;
  readonly #limitStates: Readonly<Record<DistributedLimit, PeerLimitState>>;
  /** Number of messages without an answer so far. */
  #asking = 0;
  /** Recent round-trip time of an answer, milliseconds. */
  #roundMs = 0;
  /** Resolves when a newly added shard has the answers to its first requests. */
  #initialAnswers: PromiseWithResolvers<void> | null = null;
  #stopBegun = () => {};
  /** Number of other shards in the current and earlier layouts. */
  #peers = 0;
  #retryAt = Number.POSITIVE_INFINITY;
  #stopRetry = () => {};
  #stopRelax = () => {};
  #taken: LimitShares | null = null;
  /** Limits because of which a request was rejected, until `takeExhaustedLimits` reads them. */
  readonly #exhaustedLimits = new Set<DistributedLimit>();
  /** Resolves when there may be more shares. */
  #moreShares: PromiseWithResolvers<void> | null = null;

  constructor(options: RebalancerOptions) {
    this.#options = options;
    const { name, store } = options;
    this.#limitStates = {
      global: new PeerLimitState(name, "global", store),
      queue: new PeerLimitState(name, "queue", store),
    };
  }

  /**
   * Passes a configuration to the pool, and applies the limits and the shards that share them. Returns false when the pool
   * already has a newer configuration.
   */
  configure(layout: LimitLayout, configuration: PoolConfiguration): boolean {
    const { limits } = configuration;
    if (!this.#options.pool.configure(configuration)) return false;
    const { name } = this.#options;
    const all = [...new Set([...layout.shards, ...(layout.former ?? [])])];
    // Each shard starts with its successor, so that not all shards ask the same peer.
    const own = all.indexOf(name);
    const peers = [...all.slice(own + 1), ...all.slice(0, Math.max(0, own))];
    for (const limit of DISTRIBUTED_LIMITS) {
      this.#limitStates[limit].share.configure(limits[limit], layout);
      this.#limitStates[limit].configure(peers, layout.founders);
    }
    this.#peers = peers.length;
    this.#apply();
    this.requestShares();
    const isNew = DISTRIBUTED_LIMITS.some((limit) => this.#limitStates[limit].share.isNew);
    if (isNew && this.#asking > 0 && this.#initialAnswers === null) {
      this.#initialAnswers = Promise.withResolvers();
      this.#stopBegun = this.#options.setTimer(INITIAL_WAIT_MS, () => this.#resolveInitialAnswers());
    }
    return true;
  }

  #resolveInitialAnswers(): void {
    this.#stopBegun();
    this.#initialAnswers?.resolve();
    this.#initialAnswers = null;
  }

  /**
   * A promise that requests should wait for, so that they do not meet a newly added shard without a share: one round trip,
   * at most two seconds. Null: nothing to wait for.
   */
  get initialAnswers(): Promise<void> | null {
    return this.#initialAnswers?.promise ?? null;
  }

  /** The current shares; null where no limit is set. */
  get shares(): LimitShares {
    const { global, queue } = this.#limitStates;
    return { global: global.share.slots, queue: queue.share.slots };
  }

  /** The pool reports that requests wait, or that one was rejected, because a share is exhausted. */
  onLimitExhausted(limit: DistributedLimit, turnedAway: boolean): void {
    if (turnedAway) {
      this.#limitStates[limit].hasRejectedRequest = true;
      this.#exhaustedLimits.add(limit);
    }
    this.requestShares();
  }

  /** Returns and clears the limits because of which requests were rejected. */
  takeExhaustedLimits(): DistributedLimit[] {
    const turned = [...this.#exhaustedLimits];
    this.#exhaustedLimits.clear();
    return turned;
  }

  /**
   * Requests shares urgently because a request would be rejected; it also asks peers that recently had nothing.
   *
   * @param since when the request arrived, Unix milliseconds
   * @returns a promise that resolves when there may be more; null: since then all peers have reported that they have none
   */
  acquire(limits: readonly DistributedLimit[], since: number): Promise<void> | null {
    const now = this.#options.now();
    const settleMs = Math.max(SETTLE_MS, SETTLE_ROUNDS * this.#roundMs);
    const isNew = now < since + Math.min(MAX_SETTLE_MS, settleMs);
    const open = limits.filter((limit) => this.#limitStates[limit].mayFindMore(since, now, isNew));
    for (const limit of open) this.#limitStates[limit].isEager = true;
    this.requestShares();
    const isAsking = limits.some((limit) => this.#limitStates[limit].asking > 0);
    const isSoonAsking = open.length > 0 && (this.#asking > 0 || this.#retryAt < Number.POSITIVE_INFINITY);
    const mayServe = limits.includes("queue") && isNew && this.#mayServe;
    if (!isAsking && !isSoonAsking && !mayServe) return null;
    for (const limit of limits) this.#limitStates[limit].hasWaitingRequest = true;
    this.#moreShares ??= Promise.withResolvers();
    return this.#moreShares.promise;
  }

  /** Whether requests wait only for a share of the global limit: they leave the queue as soon as there is one. */
  get #mayServe(): boolean {
    return this.#limitStates.global.share.isPartial && this.#options.pool.limitUsage().global.wanted > 0;
  }

  #notifyWaiting(): void {
    for (const limit of DISTRIBUTED_LIMITS) this.#limitStates[limit].hasWaitingRequest = false;
    this.#moreShares?.resolve();
    this.#moreShares = null;
  }

  /** Sends requests to the peers that can be asked now. */
  requestShares(): void {
    if (this.#peers === 0 || this.#asking > 0) return;
    const now = this.#options.now();
    const messages = new Map<string, Partial<Record<DistributedLimit, ShareRequest>>>();
    let retryAt = Number.POSITIVE_INFINITY;
    for (const limit of DISTRIBUTED_LIMITS) {
      const side = this.#limitStates[limit];
      if (side.share.slots === null) continue;
      // Without any share no waiting request could be served.
      const isUrgent = side.isEager || side.hasRejectedRequest;
      side.isEager ||= limit === "global" && side.share.slots === 0;
      const ask = (peer: string, missing: number) =>
        messages.set(peer, { ...messages.get(peer), [limit]: side.share.ask(peer, missing, isUrgent) });
      for (const peer of side.unansweredPeers(now)) ask(peer, 0);
      const { missing, peers } = side.selectPeers(() => this.#use(limit), now);
      for (const peer of peers) {
        ask(peer, unitsPerPeer(missing, peers.length));
        if (isUrgent) side.noteUrgentRequest(peer, now);
      }
      retryAt = Math.min(retryAt, side.nextAsking(now));
      side.isEager = false;
    }
    this.#retry(messages.size > 0 ? Number.POSITIVE_INFINITY : retryAt);
    for (const [peer, asks] of messages) this.#sendRequest(peer, asks);
  }

  /** Handles a request of another shard. Units that it gives are stored before this returns. */
  handleRequest(peer: string, asks: ShareRequests): ShareAnswers {
    const now = this.#options.now();
    const answers: { -readonly [limit in DistributedLimit]?: NonNullable<ShareAnswers[DistributedLimit]> } =
      {};
    for (const limit of DISTRIBUTED_LIMITS) {
      const ask = asks[limit];
      if (ask === undefined) continue;
      const side = this.#limitStates[limit];
      const use = this.#use(limit);
      // Requests that wait here already have their place: free room in the queue goes to shards that have none.
      const isReady = limit === "queue" && ask.urgent === true;
      // Shards that all have a request about to be rejected must not pass the same units around for ever. The shard with a
      // waiting request gets them.
      const isAfter =
        limit === "global" && ask.urgent === true && side.hasAskedWithin(now, 2 * this.#roundMs + WANTED_MS);
      const wanted = isReady ? (side.hasWaitingRequest ? 1 : 0) : Math.max(use.wanted, isAfter ? 1 : 0);
      const needed = { ...use, wanted: Math.min(wanted, Math.max(0, use.most - use.inUse)) };
      const gathers = side.hasWaitingRequest || (limit === "queue" && (side.asking > 0 || this.#mayServe));
      const before = side.share.units;
      const { gone, ...answer } = side.share.handleRequest(peer, ask, needed, now);
      if (side.share.units < before) side.noteGiven(peer);
      const isGone = gone === true && side.isHeard && this.#asking === 0;
      const rich = side.richestExcept(peer);
      answers[limit] = {
        ...answer,
        ...(isGone ? { gone } : {}),
        ...(rich === undefined ? {} : { rich }),
        ...(gathers ? { gathers } : {}),
      };
    }
    this.#apply();
    // Units owed to the peer could not be used here, so the pool does not notice their loss; waiting requests need others.
    this.requestShares();
    return answers;
  }

  #use(limit: DistributedLimit): LimitUsage {
    const use = this.#options.pool.limitUsage()[limit];
    const { hasRejectedRequest, hasWaitingRequest } = this.#limitStates[limit];
    const more = hasRejectedRequest || hasWaitingRequest ? 1 : 0;
    return { ...use, wanted: Math.min(Math.max(0, use.most - use.inUse), use.wanted + more) };
  }

  #sendRequest(peer: string, asks: ShareRequests): void {
    const { now, setTimer, send } = this.#options;
    this.#asking += 1;
    const asked = DISTRIBUTED_LIMITS.filter((limit) => (asks[limit]?.units ?? 0) > 0);
    for (const limit of asked) this.#limitStates[limit].asking += 1;
    const sentAt = now();
    let waiting = true;
    let stop = () => {};
    const heard = (answers: ShareAnswers) => {
      const late = !waiting;
      const ms = now() - sentAt;
      // The clock may be set. Only answers update the round-trip time, not timeouts.
      if (ms >= 0 && ms < ANSWER_TIMEOUT_MS) this.#roundMs = Math.max(ms, (this.#roundMs + ms) / 2);
      for (const limit of DISTRIBUTED_LIMITS) {
        const [ask, answer] = [asks[limit], answers[limit]];
        if (ask === undefined || (late && answer === undefined)) continue;
        this.#limitStates[limit].recordAnswer(peer, ask, answer, now());
      }
      this.#apply();
      if (late) return;
      waiting = false;
      stop();
      this.#asking -= 1;
      for (const limit of asked) this.#limitStates[limit].asking -= 1;
      this.requestShares();
      if (this.#asking > 0) return;
      this.#resolveInitialAnswers();
      this.#notifyWaiting();
    };
    stop = setTimer(ANSWER_TIMEOUT_MS, () => heard({}));
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
      this.requestShares();
      this.#notifyWaiting();
    });
  }

  /** Tells the pool how many slots it may use now, and again when a reservation ends. */
  #apply(): void {
    const { now, setTimer, pool } = this.#options;
    const at = now();
    const { global, queue } = this.#limitStates;
    const parts = { global: global.share.usableSlots(at), queue: queue.share.usableSlots(at) };
    this.#stopRelax();
    const until = Math.min(global.share.owedUntil, queue.share.owedUntil);
    this.#stopRelax =
      until === Number.POSITIVE_INFINITY
        ? () => {}
        : setTimer(Math.max(0, until - at), () => {
            this.#apply();
            this.requestShares();
          });
    if (parts.global === this.#taken?.global && parts.queue === this.#taken.queue) return;
    this.#taken = parts;
    pool.applyLimitShares(parts);
    this.#notifyWaiting();
  }
}
