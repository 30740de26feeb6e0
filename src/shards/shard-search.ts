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

/** Number of shards with accounts that are asked for a free slot before a request waits in the queue of one. */
const PASSES = 3;
/** How long a shard that did not answer or could not be reached is asked after all others, milliseconds. */
const LOST_MS = 3_000;
/** How long a shard without accounts is asked after the others, milliseconds. */
const EMPTY_MS = 30_000;
/** Even a request with a shorter waiting time searches the shards for this long, milliseconds: one or two may not answer. */
const PASS_MS = 2 * SILENT_MS;
/** Maximum number of search rounds when no shard has room. */
const AGAIN = 3;
/** After all rounds have failed, other requests skip the retries for this long, milliseconds. */
const VAIN_MS = 1_000;

/** A shard as far as the search for slots needs it. */
export interface SearchedShard extends Pick<AccountPoolClient, "acquire"> {
  /** Returns at once: used to check that the shard answers. */
  isWell?(provider?: string): Promise<boolean>;
}

/** Settings that determine the order in which shards are asked. */
export interface SearchOptions {
  readonly shards: readonly (Shard & { readonly client: SearchedShard })[];
  readonly clock: Clock;
  /** Location of this isolate; called at the first request. */
  readonly place: () => Place;
  /** Distance to a region; by default computed from {@link place}. */
  readonly distance?: (region: string) => number;
  /** Which of several shards in a region this isolate asks first; random by default. */
  readonly turn?: number;
}

interface Answer {
  readonly shard: number;
  readonly refused: Refused;
}

const BUSY: Refused = { refused: "queue_timeout" };

/** Whether the request may wait at that shard for an available healthy account. */
const mayWait = ({ refused: { refused, isWell } }: Answer): boolean =>
  refused === "queue_timeout" && isWell === true;

/** Refusal reasons, sorted by how well they explain why no shard granted a slot; the most informative one first. */
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
 * Finds a slot at one of several shards: asks them one after the other, the nearest first, and then waits at one of them.
 * One instance per isolate.
 */
export class ShardSearch {
  readonly #options: SearchOptions;
  readonly #clock: Clock;
  readonly #shards: AskedShards;
  readonly #pinned: PinnedSearch;
  /** By provider: a shard without free slots for one provider may have some for another. */
  readonly #orders = new Map<string, ShardOrder>();
  #vainUntil = 0;

  /** Throws a `RangeError` if there are no shards, or two with the same name. */
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
   * Asks the shards until one grants a slot or none can.
   *
   * @param end until when the request may wait, Unix milliseconds; its own `waitMs` is ignored. While shards do not
   *   answer, the search may take some seconds longer
   * @returns the outcome and the shard. Rejects when no shard can be reached that might grant a slot.
   */
  slot(request: AcquireRequest, signal: AbortSignalLike | undefined, end: number): Promise<Taken> {
    return request.target === undefined
      ? this.#anyone(request, signal, end)
      : this.#pinned.slot(request, request.target, signal, end);
  }

  /** Searches a slot of any account. Also returns the shard of the outcome. */
  async #anyone(request: AcquireRequest, signal: AbortSignalLike | undefined, end: number): Promise<Taken> {
    const order = this.#order(request.provider);
    const picky = { ...request, wellOnly: true };
    const last = Math.max(end, this.#clock.now() + PASS_MS);
    /** Shards at which the request cannot wait, because waiting there failed with `reason`. */
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
        // If no shard has an available healthy account, any account may serve.
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

  /** Whether a request that is refused now may succeed in a moment. */
  #isWorthAnother(acquired: Acquired, { exclude }: AcquireRequest, round: number, end: number): boolean {
    if ("lease" in acquired) return false;
    const now = this.#clock.now();
    if (now >= end) return false;
    // It waited at a shard that has no available healthy account any more.
    if (acquired.isWell === false && acquired.refused === "no_accounts") return true;
    // The accounts may just have moved to another shard.
    const moved = acquired.refused === "no_accounts" && !exclude?.length;
    // Without a limit the queue has room for as many requests as the pool has slots, and accounts may be about to arrive.
    const mayGetRoom = acquired.refused === "queue_full" && acquired.isFull !== true;
    if ((!moved && !mayGetRoom) || now < this.#vainUntil) return false;
    if (round + 1 < AGAIN) return true;
    this.#vainUntil = now + VAIN_MS;
    return false;
  }

  /** See `acquireWithoutWaiting`; a shard that does not answer is asked after all others from now on. */
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
