import {
  type DistributedLimit,
  LimitShare,
  type LimitUsage,
  type ShareAnswer,
  type ShareRequest,
} from "./limit-share.ts";
import type { LimitShareStore } from "./pool-store.ts";

/** A shard asks this many peers at first, and doubles the number each time none of them could give anything. */
const INITIAL_PEER_COUNT = 2;
/** A peer that could not give anything is not asked again for this long, milliseconds; longer with many peers. */
const PAUSE_MS = 1_000;
const PAUSE_EACH_MS = 60;
/** The same while a request would be rejected, or while this shard has no share at all. */
const EAGER_MS = 100;
const EAGER_EACH_MS = 30;
/** The same for a peer that has left the layout and has nothing left. */
const REMOVED_PAUSE_MS = 60_000;

/** One message with requests about both limits. Plain data. */
export type ShareRequests = { readonly [limit in DistributedLimit]?: ShareRequest };
export type ShareAnswers = {
  readonly [limit in DistributedLimit]?: ShareAnswer & {
    /** Another shard that has spare units, as far as the answering shard knows, and how many. */
    readonly rich?: readonly [peer: string, spare: number];
    /** The answering shard is collecting shares itself at the moment: it may have units to give soon. */
    readonly gathers?: true;
  };
};

const NEVER = { until: 0, eagerUntil: 0 };

/**
 * State of one limit in the `LimitRebalancer`: this shard's share, what is known about the peers' spare units, and when to
 * ask which peer.
 */
export class PeerLimitState {
  readonly share: LimitShare;
  /** A request was recently rejected because the share was exhausted. */
  hasRejectedRequest = false;
  /** A request waits for the peers' answers: they are asked again after a shorter pause. */
  isEager = false;
  /** A request waits here until the peers have been asked. */
  hasWaitingRequest = false;
  /** Number of pending requests to peers. */
  asking = 0;
  /** How many peers are asked next. */
  #nextPeerCount = INITIAL_PEER_COUNT;
  /** No peer can be asked before this time. */
  #quietUntil = 0;
  #peers: readonly string[] = [];
  /** Until when each peer is not asked: normally, and in an urgent case. */
  readonly #paused = new Map<string, { readonly until: number; readonly eagerUntil: number }>();
  /** When each peer was last asked urgently. */
  readonly #askedAt = new Map<string, number>();
  /** When any peer was last asked urgently. */
  #urgentAt = Number.NEGATIVE_INFINITY;
  /** Peers that were collecting shares themselves at their last answer. */
  readonly #gathering = new Set<string>();
  /** Peers that may have given units although their answer did not arrive: they are asked for the total. */
  readonly #unanswered = new Set<string>();
  /** Spare units of the peers, as far as known. */
  readonly #spareUnits = new Map<string, number>();

  /**
   * @param name this shard's name
   */
  constructor(name: string, limit: DistributedLimit, store: LimitShareStore) {
    this.share = new LimitShare(name, limit, store);
  }

  /**
   * Applies the list of peers.
   *
   * @param founders the shards that held the whole limit at first
   */
  configure(peers: readonly string[], founders: readonly string[]): void {
    // An earlier start of this object may have asked them.
    for (const peer of peers) if (!this.#peers.includes(peer)) this.#unanswered.add(peer);
    this.#peers = peers;
    this.#paused.clear();
    this.hasRejectedRequest = false;
    this.isEager = false;
    this.#quietUntil = 0;
    // Without any information the founders have the most.
    for (const peer of founders) if (!this.#spareUnits.has(peer)) this.#spareUnits.set(peer, 1);
  }

  get #pauseMs(): number {
    return Math.max(PAUSE_MS, PAUSE_EACH_MS * this.#peers.length);
  }

  /** Records that a peer is being asked urgently. */
  noteUrgentRequest(peer: string, now: number): void {
    this.#askedAt.set(peer, now);
    this.#urgentAt = now;
  }

  /** Whether a peer was asked urgently within this many milliseconds: then this shard needs what it has received since. */
  hasAskedWithin(now: number, ms: number): boolean {
    return now >= this.#urgentAt && now - this.#urgentAt <= ms;
  }

  /** Records that a peer has received units from here. */
  noteGiven(peer: string): void {
    this.#askedAt.delete(peer);
    this.#gathering.add(peer);
  }

  /**
   * Whether a peer may have units that was not asked since then.
   *
   * @param isNew also ask peers again that are collecting shares themselves: they may not need all of them in the end
   */
  mayFindMore(since: number, now: number, isNew: boolean): boolean {
    if (!this.share.isPartial) return false;
    const wasAsked = (peer: string) => (this.#askedAt.get(peer) ?? Number.NEGATIVE_INFINITY) >= since;
    return this.#peers.some((peer) => {
      const { until, eagerUntil } = this.#paused.get(peer) ?? NEVER;
      if (until <= now) return true;
      return eagerUntil < until && (!wasAsked(peer) || (isNew && this.#gathering.has(peer)));
    });
  }

  /** Returns how many units are missing and which peers to ask for them now. */
  selectPeers(
    getUsage: () => LimitUsage,
    now: number,
  ): { readonly missing: number; readonly peers: readonly string[] } {
    if (this.#isQuiet(now) && !this.isEager) return { missing: 0, peers: [] };
    const missing = this.share.missing(getUsage());
    this.hasRejectedRequest = false;
    if (missing === 0) {
      this.#nextPeerCount = INITIAL_PEER_COUNT;
      return { missing, peers: [] };
    }
    const peers = this.#selectReadyPeers(missing, now);
    if (peers.length === 0) this.#quietUntil = this.#nextReady(now);
    this.#nextPeerCount *= 2;
    return { missing, peers };
  }

  /** Selects the peers to ask for that many units now; those with the most spare units come first. */
  #selectReadyPeers(missing: number, now: number): readonly string[] {
    const readyPeers = this.#peers.filter((peer) => this.#pausedUntil(peer, now) <= now);
    const getSpare = (peer: string) => this.#spareUnits.get(peer) ?? 0;
    readyPeers.sort((a, b) => getSpare(b) - getSpare(a));
    const [richestPeer = ""] = readyPeers;
    return readyPeers.slice(0, getSpare(richestPeer) >= missing ? 1 : this.#nextPeerCount);
  }

  /** Peers whose last answer is missing and that may be asked for it now. */
  unansweredPeers(now: number): readonly string[] {
    return this.#peers.filter((peer) => this.#unanswered.has(peer) && this.#pausedUntil(peer, now) <= now);
  }

  /** Whether no answer is missing, so that no unknown units can arrive. */
  get isHeard(): boolean {
    return this.#unanswered.size === 0;
  }

  #isQuiet(now: number): boolean {
    return now < this.#quietUntil && this.#quietUntil <= now + Math.max(REMOVED_PAUSE_MS, this.#pauseMs);
  }

  /** When the first peer may be asked for more; `Infinity` without peers. */
  #nextReady(now: number): number {
    return Math.min(...this.#peers.map((peer) => this.#pausedUntil(peer, now)));
  }

  /** When a peer should be asked again, for more or for a missing answer; `Infinity` if there is nothing to wait for. */
  nextAsking(now: number): number {
    const nextAnswerAt = Math.min(...Array.from(this.#unanswered, (peer) => this.#pausedUntil(peer, now)));
    return this.#isQuiet(now) ? Math.min(nextAnswerAt, this.#quietUntil) : nextAnswerAt;
  }

  /** Ignores a pause that is too long: the clock may have been set back. */
  #pausedUntil(peer: string, now: number): number {
    const paused = this.#paused.get(peer) ?? NEVER;
    const until = this.isEager ? paused.eagerUntil : paused.until;
    return until <= now + Math.max(REMOVED_PAUSE_MS, this.#pauseMs) ? until : 0;
  }

  /** Records a peer's answer; `undefined`: it did not answer or could not be reached. */
  recordAnswer(
    peer: string,
    { units }: ShareRequest,
    answer: ShareAnswers[DistributedLimit],
    now: number,
  ): void {
    if (answer === undefined) {
      this.#unanswered.add(peer);
      this.#spareUnits.set(peer, 0);
      this.#pause(peer, now, this.#pauseMs);
      return;
    }
    this.#unanswered.delete(peer);
    if (answer.gathers === true) this.#gathering.add(peer);
    else this.#gathering.delete(peer);
    const receivedUnits = this.share.recordGiven(peer, answer.given);
    this.#spareUnits.set(peer, answer.spare);
    if (answer.rich !== undefined) this.#spareUnits.set(...answer.rich);
    if (receivedUnits > 0) this.#nextPeerCount = INITIAL_PEER_COUNT;
    if (answer.gone === true) this.#pause(peer, now, REMOVED_PAUSE_MS);
    else if (units > 0 && (receivedUnits === 0 || answer.spare === 0))
      this.#pause(peer, now, this.#pauseMs, Math.max(EAGER_MS, EAGER_EACH_MS * this.#peers.length));
  }

  #pause(peer: string, now: number, ms: number, eagerMs = ms): void {
    this.#paused.set(peer, { until: now + ms, eagerUntil: now + eagerMs });
  }

  /** The peer with the most spare units except `peer`, as far as known. */
  richestExcept(peer: string): readonly [peer: string, spare: number] | undefined {
    let richest: readonly [string, number] = ["", 1];
    for (const [candidate, spare] of this.#spareUnits)
      if (candidate !== peer && spare > richest[1]) richest = [candidate, spare];
    return richest[0] === "" ? undefined : richest;
  }
}

/** How much to request from each of several peers: a little more than an equal part, because some will have nothing. */
export function unitsPerPeer(missing: number, peers: number): number {
  return Math.min(1, INITIAL_PEER_COUNT / peers) * missing;
}
