import type { AbortSignalLike } from "../http/light-abort-controller.ts";
import type {
  AccountPoolClient,
  Acquired,
  AcquireRequest,
  RefusalReason,
  Refused,
} from "../platform/accounts.ts";
import { type Clock, pause } from "../platform/clock.ts";
import type { Place } from "../platform/regions.ts";
import { AGAIN_MS, type AskedShards, askSoon, SILENT_MS, type Taken } from "./asked-shard.ts";
import { PinnedSearch } from "./pinned-search.ts";
import { distanceFrom } from "./regions.ts";
import { ShardOrder } from "./shard-order.ts";
import { waitAtShard } from "./shard-queue.ts";
import { type Shard, ShardMap } from "./shards.ts";

/** How many shards that have accounts are asked for a free slot before a request waits in the queue of one. */
const PASSES = 3;
/** For how long a shard that was silent, or could not be reached, is asked after all others, milliseconds. */
const LOST_MS = 3_000;
/** For how long a shard without accounts is asked after the others, milliseconds. */
const EMPTY_MS = 30_000;
/** A request that may wait for less goes on to other shards for so long all the same, milliseconds: one or two may be silent. */
const PASS_MS = 2 * SILENT_MS;
/** How often a request asks again that no shard has room for. */
const AGAIN = 3;
/** After that has been in vain others are spared it, milliseconds. */
const VAIN_MS = 1_000;

/** A shard, as far as slots are looked for there. */
export interface SearchedShard extends Pick<AccountPoolClient, "acquire"> {
  /** A question that is answered at once, to hear whether the shard is there. */
  isWell?(provider?: string): Promise<boolean>;
}

/** What the order in which shards are asked depends on. */
export interface SearchOptions {
  readonly shards: readonly (Shard & { readonly client: SearchedShard })[];
  readonly clock: Clock;
  /** Where this is; asked when the first request comes. */
  readonly place: () => Place;
  /** How far it is to a region, unless by {@link place}. */
  readonly distance?: (region: string) => number;
  /** With which of several shards in one region this isolate begins; random unless given. */
  readonly turn?: number;
}

interface Answer {
  readonly shard: number;
  readonly refused: Refused;
}

const BUSY: Refused = { refused: "queue_timeout" };

/** Whether a request may wait there for an account that is well. */
const mayWait = ({ refused: { refused, isWell } }: Answer): boolean =>
  refused === "queue_timeout" && isWell === true;

/** Which refusal tells most of why nobody granted a slot, the first that there is. */
const TELLING: readonly RefusalReason[] = [
  "queue_timeout",
  "provider_down",
  "queue_full",
  "target_not_found",
];

function mostTelling(answers: readonly Answer[]): Answer | undefined {
  for (const reason of TELLING) {
    const answer = answers.find(({ refused }) => refused.refused === reason);
    if (answer !== undefined) return answer;
  }
  return answers[0];
}

/**
 * Finds a request a slot at one of several shards: passes it on from the nearest to the next, and has it wait at one of them. One of
 * it for each isolate.
 */
export class ShardSearch {
  readonly #options: SearchOptions;
  readonly #clock: Clock;
  readonly #shards: AskedShards;
  readonly #pinned: PinnedSearch;
  /** By provider: where there is nothing free for one there may be for another. */
  readonly #orders = new Map<string, ShardOrder>();
  #vainUntil = 0;

  /** Throws a `RangeError` without shards, or with two of one name. */
  constructor(options: SearchOptions) {
    const { shards, clock } = options;
    this.#options = options;
    this.#clock = clock;
    this.#shards = {
      ask: async (shard, request, signal) => {
        const client = shards[shard]?.client;
        return client === undefined ? { refused: "no_accounts" } : client.acquire(request, signal);
      },
      isThere: async (shard) => shards[shard]?.client.isWell?.(),
    };
    this.#pinned = new PinnedSearch(this.#shards, clock, new ShardMap(shards));
  }

  /**
   * Asks until there is a slot, or none to be had.
   *
   * @param end until when it may wait, Unix milliseconds; the request's own `waitMs` does not count. It goes on for some seconds more
   *   at most, while shards do not answer
   * @returns what came of it, and at which shard. Rejects when no shard can be reached that might grant it.
   */
  slot(request: AcquireRequest, signal: AbortSignalLike | undefined, end: number): Promise<Taken> {
    return request.target === undefined
      ? this.#anyone(request, signal, end)
      : this.#pinned.slot(request, request.target, signal, end);
  }

  /** Any account will do. The result says whose it is. */
  async #anyone(request: AcquireRequest, signal: AbortSignalLike | undefined, end: number): Promise<Taken> {
    const order = this.#order(request.provider);
    const picky = { ...request, wellOnly: true };
    const last = Math.max(end, this.#clock.now() + PASS_MS);
    /** Where it cannot wait, and why. */
    const lost = new Set<number>();
    let reason: unknown = null;
    for (let round = 0; ; round += 1) {
      const shards = order.next(this.#clock.now()).filter((shard) => !lost.has(shard));
      const [first = 0] = shards;
      const answers: Answer[] = [];
      let passed = 0;
      let failed: unknown = null;
      for (const shard of shards) {
        if (passed >= PASSES && answers.some(mayWait)) break;
        if (signal?.aborted) return [shard, { refused: "cancelled" }];
        if (this.#clock.now() >= last) return [shard, BUSY];
        const answer = await this.#askSoon(order, shard, picky, signal).catch((error: unknown) => {
          order.avoid(shard, this.#clock.now(), LOST_MS);
          failed = error;
          return null;
        });
        if (answer === null) continue;
        if ("lease" in answer || answer.refused === "cancelled") return [shard, answer];
        if (answer.refused === "no_accounts") {
          if (!request.exclude?.length) order.avoid(shard, this.#clock.now(), EMPTY_MS);
        } else {
          order.avoid(shard, this.#clock.now());
          passed += 1;
        }
        answers.push({ shard, refused: answer });
      }
      if (answers.length === 0 && failed !== null) throw failed;
      if (this.#clock.now() >= last) return [first, BUSY];
      if (lost.size > 0 && answers.every(({ refused }) => refused.refused === "no_accounts")) throw reason;
      const well = answers.find(mayWait);
      const best = well ?? mostTelling(answers) ?? { shard: first, refused: BUSY };
      let acquired: Acquired = best.refused;
      if (best.refused.refused !== "no_accounts") {
        // Where no account is well one that is not will have to do.
        const wanted = well === undefined ? request : picky;
        const taken = await waitAtShard(
          this.#shards,
          this.#clock,
          shards,
          best.shard,
          wanted,
          signal,
          end,
        ).catch((error: unknown) => {
          order.avoid(best.shard, this.#clock.now(), LOST_MS);
          lost.add(best.shard);
          reason = error;
          return null;
        });
        if (taken === null) {
          if (this.#clock.now() >= end) return [best.shard, BUSY];
          continue;
        }
        if ("lease" in taken[1]) return taken;
        acquired = taken[1];
      }
      if (!this.#isWorthAnother(acquired, request, round, end)) return [best.shard, acquired];
      await pause(AGAIN_MS * Math.min(AGAIN, round + 1), this.#clock);
    }
  }

  /** Whether what is refused now may be granted in a moment. */
  #isWorthAnother(acquired: Acquired, { exclude }: AcquireRequest, round: number, end: number): boolean {
    if ("lease" in acquired) return false;
    const now = this.#clock.now();
    if (now >= end) return false;
    // It waited where no account is well any more.
    if (acquired.isWell === false && acquired.refused === "no_accounts") return true;
    // The accounts may have gone to another shard just now.
    const moved = acquired.refused === "no_accounts" && !exclude?.length;
    // Without a limit there is room for as many as the pool has slots, and its accounts may be on their way.
    const mayGetRoom = acquired.refused === "queue_full" && acquired.isFull !== true;
    if ((!moved && !mayGetRoom) || now < this.#vainUntil) return false;
    if (round + 1 < AGAIN) return true;
    this.#vainUntil = now + VAIN_MS;
    return false;
  }

  /** See `askSoon`; one that says nothing is asked after all others from now on. */
  async #askSoon(
    order: ShardOrder,
    shard: number,
    request: AcquireRequest,
    signal: AbortSignalLike | undefined,
  ): Promise<Acquired | null> {
    const answer = await askSoon(this.#shards.ask, this.#clock, shard, request, signal);
    if (answer === null) order.avoid(shard, this.#clock.now(), LOST_MS);
    return answer;
  }

  #order(provider = ""): ShardOrder {
    let order = this.#orders.get(provider);
    if (order === undefined) {
      const { shards, place, distance = distanceFrom(place()), turn } = this.#options;
      const from = turn ?? Math.floor(Math.random() * shards.length);
      order = new ShardOrder(shards, [...shards.keys()], distance, from);
      this.#orders.set(provider, order);
    }
    return order;
  }
}
