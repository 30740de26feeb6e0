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
const URGENT_REQUEST_MS = 100;
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

/** The part of the pool that the rebalancer needs: an `AccountPool`. */
export interface RebalancedPool {
  configure(configuration: PoolConfiguration): boolean;
  limitUsage(): Readonly<Record<DistributedLimit, LimitUsage>>;
  applyLimitShares(shares: LimitShares): void;
}

/** Dependencies of {@link LimitRebalancer}. */
export interface RebalancerOptions extends Clock {
  /** This shard's name. */
  readonly name: string;
  readonly store: LimitShareStore;
  readonly pool: RebalancedPool;
  /** Sends a message to `handleRequest` of another shard. It may be lost, repeated or late, or the promise may reject. */
  readonly send: (to: string, requests: ShareRequests) => Promise<ShareAnswers>;
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
  #pendingRequests = 0;
  /** Recent round-trip time of an answer, milliseconds. */
  #roundTripMs = 0;
  /** Resolves when a newly added shard has the answers to its first requests. */
  #initialAnswers: PromiseWithResolvers<void> | null = null;
  #stopInitialWait = () => {};
  /** Number of other shards in the current and earlier layouts. */
  #peerCount = 0;
  #retryAt = Number.POSITIVE_INFINITY;
  #stopRetry = () => {};
  #stopReservationTimer = () => {};
  #appliedShares: LimitShares | null = null;
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
    const shards = [...new Set([...layout.shards, ...(layout.former ?? [])])];
    // Each shard starts with its successor, so that not all shards ask the same peer.
    const ownIndex = shards.indexOf(name);
    const peers = [...shards.slice(ownIndex + 1), ...shards.slice(0, Math.max(0, ownIndex))];
    for (const limit of DISTRIBUTED_LIMITS) {
      this.#limitStates[limit].share.configure(limits[limit], layout);
      this.#limitStates[limit].configure(peers, layout.founders);
    }
    this.#peerCount = peers.length;
    this.#applyShares();
    this.requestShares();
    const isNew = DISTRIBUTED_LIMITS.some((limit) => this.#limitStates[limit].share.isNew);
    if (isNew && this.#pendingRequests > 0 && this.#initialAnswers === null) {
      this.#initialAnswers = Promise.withResolvers();
      this.#stopInitialWait = this.#options.setTimer(INITIAL_WAIT_MS, () => this.#resolveInitialAnswers());
    }
    return true;
  }

  #resolveInitialAnswers(): void {
    this.#stopInitialWait();
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
  onLimitExhausted(limit: DistributedLimit, wasRejected: boolean): void {
    if (wasRejected) {
      this.#limitStates[limit].hasRejectedRequest = true;
      this.#exhaustedLimits.add(limit);
    }
    this.requestShares();
  }

  /** Returns and clears the limits because of which requests were rejected. */
  takeExhaustedLimits(): DistributedLimit[] {
    const limits = [...this.#exhaustedLimits];
    this.#exhaustedLimits.clear();
    return limits;
  }

  /**
   * Requests shares urgently because a request would be rejected; it also asks peers that recently had nothing.
   *
   * @param since when the request arrived, Unix milliseconds
   * @returns a promise that resolves when there may be more; null: since then all peers have reported that they have none
   */
  acquire(limits: readonly DistributedLimit[], since: number): Promise<void> | null {
    const now = this.#options.now();
    const settleMs = Math.max(SETTLE_MS, SETTLE_ROUNDS * this.#roundTripMs);
    const isNew = now < since + Math.min(MAX_SETTLE_MS, settleMs);
    const obtainable = limits.filter((limit) => this.#limitStates[limit].mayFindMore(since, now, isNew));
    for (const limit of obtainable) this.#limitStates[limit].isEager = true;
    this.requestShares();
    const hasPendingRequest = limits.some((limit) => this.#limitStates[limit].asking > 0);
    const willRequest =
      obtainable.length > 0 && (this.#pendingRequests > 0 || this.#retryAt < Number.POSITIVE_INFINITY);
    const canDrainQueue = limits.includes("queue") && isNew && this.#canDrainQueue;
    if (!hasPendingRequest && !willRequest && !canDrainQueue) return null;
    for (const limit of limits) this.#limitStates[limit].hasWaitingRequest = true;
    this.#moreShares ??= Promise.withResolvers();
    return this.#moreShares.promise;
  }

  /** Whether requests wait only for a share of the global limit: they leave the queue as soon as there is one. */
  get #canDrainQueue(): boolean {
    return this.#limitStates.global.share.isPartial && this.#options.pool.limitUsage().global.wanted > 0;
  }

  #notifyWaiting(): void {
    for (const limit of DISTRIBUTED_LIMITS) this.#limitStates[limit].hasWaitingRequest = false;
    this.#moreShares?.resolve();
    this.#moreShares = null;
  }

  /** Sends requests to the peers that can be asked now. */
  requestShares(): void {
    if (this.#peerCount === 0 || this.#pendingRequests > 0) return;
    const now = this.#options.now();
    const messages = new Map<string, Partial<Record<DistributedLimit, ShareRequest>>>();
    let retryAt = Number.POSITIVE_INFINITY;
    for (const limit of DISTRIBUTED_LIMITS) {
      const state = this.#limitStates[limit];
      if (state.share.slots === null) continue;
      // Without any share no waiting request could be served.
      const isUrgent = state.isEager || state.hasRejectedRequest;
      state.isEager ||= limit === "global" && state.share.slots === 0;
      const addRequest = (peer: string, missing: number) =>
        messages.set(peer, { ...messages.get(peer), [limit]: state.share.ask(peer, missing, isUrgent) });
      for (const peer of state.unansweredPeers(now)) addRequest(peer, 0);
      const { missing, peers } = state.selectPeers(() => this.#getUsage(limit), now);
      for (const peer of peers) {
        addRequest(peer, unitsPerPeer(missing, peers.length));
        if (isUrgent) state.noteUrgentRequest(peer, now);
      }
      retryAt = Math.min(retryAt, state.nextAsking(now));
      state.isEager = false;
    }
    this.#scheduleRetry(messages.size > 0 ? Number.POSITIVE_INFINITY : retryAt);
    for (const [peer, requests] of messages) this.#sendRequest(peer, requests);
  }

  /** Handles a request of another shard. Units that it gives are stored before this returns. */
  handleRequest(peer: string, requests: ShareRequests): ShareAnswers {
    const now = this.#options.now();
    const answers: { -readonly [limit in DistributedLimit]?: NonNullable<ShareAnswers[DistributedLimit]> } =
      {};
    for (const limit of DISTRIBUTED_LIMITS) {
      const request = requests[limit];
      if (request === undefined) continue;
      const state = this.#limitStates[limit];
      const usage = this.#getUsage(limit);
      // Requests that wait here already have their place, so free queue capacity goes to the shard that needs it.
      const isUrgentQueueRequest = limit === "queue" && request.urgent === true;
      // If every shard is about to reject a request, they must not exchange the same units for ever. The shard with a
      // waiting request gets them.
      const competesUrgently =
        limit === "global" &&
        request.urgent === true &&
        state.hasAskedWithin(now, 2 * this.#roundTripMs + URGENT_REQUEST_MS);
      const wanted = isUrgentQueueRequest
        ? state.hasWaitingRequest
          ? 1
          : 0
        : Math.max(usage.wanted, competesUrgently ? 1 : 0);
      const adjustedUsage = { ...usage, wanted: Math.min(wanted, Math.max(0, usage.most - usage.inUse)) };
      const isGathering =
        state.hasWaitingRequest || (limit === "queue" && (state.asking > 0 || this.#canDrainQueue));
      const unitsBefore = state.share.units;
      const { gone, ...answer } = state.share.handleRequest(peer, request, adjustedUsage, now);
      if (state.share.units < unitsBefore) state.noteGiven(peer);
      const isGone = gone === true && state.isHeard && this.#pendingRequests === 0;
      const richestPeer = state.richestExcept(peer);
      answers[limit] = {
        ...answer,
        ...(isGone ? { gone } : {}),
        ...(richestPeer === undefined ? {} : { rich: richestPeer }),
        ...(isGathering ? { gathers: isGathering } : {}),
      };
    }
    this.#applyShares();
    // Units owed to the peer could not be used here, so the pool does not notice their loss; waiting requests need others.
    this.requestShares();
    return answers;
  }

  #getUsage(limit: DistributedLimit): LimitUsage {
    const usage = this.#options.pool.limitUsage()[limit];
    const { hasRejectedRequest, hasWaitingRequest } = this.#limitStates[limit];
    const extra = hasRejectedRequest || hasWaitingRequest ? 1 : 0;
    return { ...usage, wanted: Math.min(Math.max(0, usage.most - usage.inUse), usage.wanted + extra) };
  }

  #sendRequest(peer: string, requests: ShareRequests): void {
    const { now, setTimer, send } = this.#options;
    this.#pendingRequests += 1;
    const requestedLimits = DISTRIBUTED_LIMITS.filter((limit) => (requests[limit]?.units ?? 0) > 0);
    for (const limit of requestedLimits) this.#limitStates[limit].asking += 1;
    const sentAt = now();
    let isWaiting = true;
    let stopTimer = () => {};
    const handleAnswers = (answers: ShareAnswers) => {
      const isLate = !isWaiting;
      const roundTripMs = now() - sentAt;
      // The clock may be set. Only answers update the round-trip time, not timeouts.
      if (roundTripMs >= 0 && roundTripMs < ANSWER_TIMEOUT_MS)
        this.#roundTripMs = Math.max(roundTripMs, (this.#roundTripMs + roundTripMs) / 2);
      for (const limit of DISTRIBUTED_LIMITS) {
        const [request, answer] = [requests[limit], answers[limit]];
        if (request === undefined || (isLate && answer === undefined)) continue;
        this.#limitStates[limit].recordAnswer(peer, request, answer, now());
      }
      this.#applyShares();
      if (isLate) return;
      isWaiting = false;
      stopTimer();
      this.#pendingRequests -= 1;
      for (const limit of requestedLimits) this.#limitStates[limit].asking -= 1;
      this.requestShares();
      if (this.#pendingRequests > 0) return;
      this.#resolveInitialAnswers();
      this.#notifyWaiting();
    };
    stopTimer = setTimer(ANSWER_TIMEOUT_MS, () => handleAnswers({}));
    send(peer, requests)
      .then(handleAnswers)
      .catch(() => {
        // What could not be stored from this answer arrives with the next one.
        if (isWaiting) handleAnswers({});
      });
  }

  #scheduleRetry(at: number): void {
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

  /** Applies the number of slots that the pool may use now, and again when a reservation ends. */
  #applyShares(): void {
    const { now, setTimer, pool } = this.#options;
    const at = now();
    const { global, queue } = this.#limitStates;
    const shares = { global: global.share.usableSlots(at), queue: queue.share.usableSlots(at) };
    this.#stopReservationTimer();
    const until = Math.min(global.share.owedUntil, queue.share.owedUntil);
    this.#stopReservationTimer =
      until === Number.POSITIVE_INFINITY
        ? () => {}
        : setTimer(Math.max(0, until - at), () => {
            this.#applyShares();
            this.requestShares();
          });
    if (shares.global === this.#appliedShares?.global && shares.queue === this.#appliedShares.queue) return;
    this.#appliedShares = shares;
    pool.applyLimitShares(shares);
    this.#notifyWaiting();
  }
}
