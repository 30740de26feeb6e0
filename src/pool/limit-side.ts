import { LimitPart, type PartAnswer, type PartAsk, type PartedLimit, type PartUse } from "./limit-part.ts";
import type { PartStore } from "./pool-store.ts";

/** A shard asks so many others at first, and twice as many each time that none of them had anything. */
const AT_ONCE = 2;
/** One that had nothing is left alone for so long, milliseconds, and longer where there are many. */
const PAUSE_MS = 1_000;
const PAUSE_EACH_MS = 60;
/** The same while a request would be turned away, or all that wait have no part at all. */
const EAGER_MS = 100;
const EAGER_EACH_MS = 30;
/** One that is not of the layout any more, and has nothing left. */
const GONE_MS = 60_000;

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

const NEVER = { until: 0, eagerUntil: 0 };

/** What a `PartTrader` knows of one limit: this shard's part, and of the others who may have some to give, and when to ask whom. */
export class LimitSide {
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
  #atOnce = AT_ONCE;
  /** There is nobody to ask for more until then. */
  #quietUntil = 0;
  #peers: readonly string[] = [];
  /** Until when which one is left alone; and when somebody is eager. */
  readonly #paused = new Map<string, { readonly until: number; readonly eagerUntil: number }>();
  /** When which one was asked for more, urgently. */
  readonly #askedAt = new Map<string, number>();
  /** When any was. */
  #urgentAt = Number.NEGATIVE_INFINITY;
  /** Who gathered parts when it was asked last. */
  readonly #gathering = new Set<string>();
  /** Who may have given something of which nothing has been heard: they are asked what it was. */
  readonly #unheard = new Set<string>();
  /** What others would give, in units, as far as it is known. */
  readonly #spare = new Map<string, number>();

  /** @param name the shard's own */
  constructor(name: string, limit: PartedLimit, store: PartStore) {
    this.part = new LimitPart(name, limit, store);
  }

  /**
   * Takes over who the others are.
   *
   * @param founders who had all of it in the beginning
   */
  configure(peers: readonly string[], founders: readonly string[]): void {
    // An earlier start may have asked them.
    for (const peer of peers) if (!this.#peers.includes(peer)) this.#unheard.add(peer);
    this.#peers = peers;
    this.#paused.clear();
    this.turnedAway = false;
    this.isEager = false;
    this.#quietUntil = 0;
    // If nothing is known of anybody they have the most.
    for (const peer of founders) if (!this.#spare.has(peer)) this.#spare.set(peer, 1);
  }

  get #pauseMs(): number {
    return Math.max(PAUSE_MS, PAUSE_EACH_MS * this.#peers.length);
  }

  /** A peer is being asked for more, urgently. */
  asks(peer: string, now: number): void {
    this.#askedAt.set(peer, now);
    this.#urgentAt = now;
  }

  /** Whether it has asked urgently for more within so many milliseconds: it wants what it has got since. */
  hasAsked(now: number, ms: number): boolean {
    return now >= this.#urgentAt && now - this.#urgentAt <= ms;
  }

  /** A peer has got some from here. */
  gave(peer: string): void {
    this.#askedAt.delete(peer);
    this.#gathering.add(peer);
  }

  /**
   * Whether somebody may have some that has not been asked since then.
   *
   * @param isNew those who gather parts themselves are asked again: they may not need all of them in the end
   */
  isOpen(since: number, now: number, isNew: boolean): boolean {
    if (!this.part.isPartial) return false;
    const wasAsked = (peer: string) => (this.#askedAt.get(peer) ?? Number.NEGATIVE_INFINITY) >= since;
    return this.#peers.some((peer) => {
      const { until, eagerUntil } = this.#paused.get(peer) ?? NEVER;
      if (until <= now) return true;
      return eagerUntil < until && (!wasAsked(peer) || (isNew && this.#gathering.has(peer)));
    });
  }

  /** How many units are missing, and who is to be asked for them now. */
  wants(use: () => PartUse, now: number): { readonly missing: number; readonly peers: readonly string[] } {
    if (this.#isQuiet(now) && !this.isEager) return { missing: 0, peers: [] };
    const missing = this.part.missing(use());
    this.turnedAway = false;
    if (missing === 0) {
      this.#atOnce = AT_ONCE;
      return { missing, peers: [] };
    }
    const peers = this.#ready(missing, now);
    if (peers.length === 0) this.#quietUntil = this.#nextReady(now);
    this.#atOnce *= 2;
    return { missing, peers };
  }

  /** Whom to ask for so many units now: those first that have most. */
  #ready(missing: number, now: number): readonly string[] {
    const ready = this.#peers.filter((peer) => this.#pausedUntil(peer, now) <= now);
    const spare = (peer: string) => this.#spare.get(peer) ?? 0;
    ready.sort((one, other) => spare(other) - spare(one));
    const [richest = ""] = ready;
    return ready.slice(0, spare(richest) >= missing ? 1 : this.#atOnce);
  }

  /** Of whom an answer is missing, and who may be asked for it now. */
  unheard(now: number): readonly string[] {
    return this.#peers.filter((peer) => this.#unheard.has(peer) && this.#pausedUntil(peer, now) <= now);
  }

  /** Nothing can come that it does not know of. */
  get isHeard(): boolean {
    return this.#unheard.size === 0;
  }

  #isQuiet(now: number): boolean {
    return now < this.#quietUntil && this.#quietUntil <= now + Math.max(GONE_MS, this.#pauseMs);
  }

  /** When one of them may be asked for more; `Infinity` when there is nobody, ever. */
  #nextReady(now: number): number {
    return Math.min(...this.#peers.map((peer) => this.#pausedUntil(peer, now)));
  }

  /** When there is somebody to ask again, for more or for what was given; `Infinity` when nothing is known to wait for. */
  nextAsking(now: number): number {
    const heard = Math.min(...Array.from(this.#unheard, (peer) => this.#pausedUntil(peer, now)));
    return this.#isQuiet(now) ? Math.min(heard, this.#quietUntil) : heard;
  }

  /** A clock may be set back. */
  #pausedUntil(peer: string, now: number): number {
    const paused = this.#paused.get(peer) ?? NEVER;
    const until = this.isEager ? paused.eagerUntil : paused.until;
    return until <= now + Math.max(GONE_MS, this.#pauseMs) ? until : 0;
  }

  /** A peer has answered what it was asked; `undefined`: it has not, or could not be. */
  heard(peer: string, { units }: PartAsk, answer: PartAnswers[PartedLimit], now: number): void {
    if (answer === undefined) {
      this.#unheard.add(peer);
      this.#spare.set(peer, 0);
      this.#pause(peer, now, this.#pauseMs);
      return;
    }
    this.#unheard.delete(peer);
    if (answer.gathers === true) this.#gathering.add(peer);
    else this.#gathering.delete(peer);
    const more = this.part.told(peer, answer.given);
    this.#spare.set(peer, answer.spare);
    if (answer.rich !== undefined) this.#spare.set(...answer.rich);
    if (more > 0) this.#atOnce = AT_ONCE;
    if (answer.gone === true) this.#pause(peer, now, GONE_MS);
    else if (units > 0 && (more === 0 || answer.spare === 0))
      this.#pause(peer, now, this.#pauseMs, Math.max(EAGER_MS, EAGER_EACH_MS * this.#peers.length));
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

/** What each of so many is asked for: a little more than its share, for some will have nothing. */
export function shareOf(missing: number, peers: number): number {
  return Math.min(1, AT_ONCE / peers) * missing;
}
