import type { AbortSignalLike } from "../../core/http/light-abort-controller.ts";
import type {
  AccountPoolClient,
  AcquireRefusal,
  AcquireRequest,
  AcquireResult,
  RefusalReason,
} from "../../core/ports/accounts.ts";
import { type Clock, sleep } from "../../core/ports/clock.ts";
import type { GeoLocation } from "../../core/ports/regions.ts";
import { PinnedSearch } from "./pinned-search.ts";
import { distanceFrom } from "./region-distance.ts";
import {
  acquireWithoutWaiting,
  RETRY_MS,
  SHARD_TIMEOUT_MS,
  type ShardAccess,
  type ShardOutcome,
} from "./shard-access.ts";
import { type Shard, ShardMap } from "./shard-map.ts";
import { ShardOrder } from "./shard-order.ts";
import { waitAtShard } from "./shard-queue.ts";

/** Number of shards with accounts that are asked for a free slot before a request waits in the queue of one. */
const SHARDS_BEFORE_WAITING = 3;
/** How long a shard that did not answer or could not be reached is asked after all others, milliseconds. */
const UNREACHABLE_AVOID_MS = 3_000;
/** How long a shard without accounts is asked after the others, milliseconds. */
const EMPTY_AVOID_MS = 30_000;
/** Even a request with a shorter waiting time searches the shards for this long, milliseconds: one or two may not answer. */
const MIN_SEARCH_MS = 2 * SHARD_TIMEOUT_MS;
/** Maximum number of search rounds when no shard has room. */
const MAX_ROUNDS = 3;
/** After all rounds have failed, other requests skip the retries for this long, milliseconds. */
const FUTILE_PAUSE_MS = 1_000;

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
  readonly place: () => GeoLocation;
  /** Distance to a region; by default computed from {@link place}. */
  readonly distance?: (region: string) => number;
  /** Which of several shards in a region this isolate asks first; random by default. */
  readonly turn?: number;
}

interface Answer {
  readonly shard: number;
  readonly refused: AcquireRefusal;
}

const BUSY: AcquireRefusal = { refused: "queue_timeout" };

/** Whether the request may wait at that shard for an available healthy account. */
const mayWait = ({ refused: { refused, isWell } }: Answer): boolean =>
  refused === "queue_timeout" && isWell === true;

/** Refusal reasons, sorted by how well they explain why no shard granted a slot; the most informative one first. */
const REFUSAL_PRIORITY: readonly RefusalReason[] = [
  "queue_timeout",
  "provider_down",
  "queue_full",
  "target_not_found",
];

function mostInformative(answers: readonly Answer[]): Answer | undefined {
  for (const reason of REFUSAL_PRIORITY) {
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
  readonly #shards: ShardAccess;
  readonly #pinned: PinnedSearch;
  /** By provider: a shard without free slots for one provider may have some for another. */
  readonly #orders = new Map<string, ShardOrder>();
  #noRetryBefore = 0;

  /** Throws a `RangeError` if there are no shards, or two with the same name. */
  constructor(options: SearchOptions) {
    const { shards, clock } = options;
    this.#options = options;
    this.#clock = clock;
    this.#shards = {
      acquire: async (shard, request, signal) => {
        const client = shards[shard]?.client;
        return client === undefined ? { refused: "no_accounts" } : client.acquire(request, signal);
      },
      ping: async (shard) => shards[shard]?.client.isWell?.(),
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
  findSlot(request: AcquireRequest, signal: AbortSignalLike | undefined, end: number): Promise<ShardOutcome> {
    return request.target === undefined
      ? this.#findAnySlot(request, signal, end)
      : this.#pinned.findSlot(request, request.target, signal, end);
  }

  /** Searches a slot of any account. Also returns the shard of the outcome. */
  async #findAnySlot(
    request: AcquireRequest,
    signal: AbortSignalLike | undefined,
    end: number,
  ): Promise<ShardOutcome> {
    const order = this.#order(request.provider);
    const picky = { ...request, wellOnly: true };
    const last = Math.max(end, this.#clock.now() + MIN_SEARCH_MS);
    /** Shards at which the request cannot wait, because waiting there failed with `reason`. */
    const lost = new Set<number>();
    let reason: unknown = null;
    for (let round = 0; ; round += 1) {
      const shards = order.nextOrder(this.#clock.now()).filter((shard) => !lost.has(shard));
      const [first = 0] = shards;
      const answers: Answer[] = [];
      let passed = 0;
      let failed: unknown = null;
      for (const shard of shards) {
        if (passed >= SHARDS_BEFORE_WAITING && answers.some(mayWait)) break;
        if (signal?.aborted) return [shard, { refused: "cancelled" }];
        if (this.#clock.now() >= last) return [shard, BUSY];
        const answer = await this.#acquireWithoutWaiting(order, shard, picky, signal).catch(
          (error: unknown) => {
            order.avoid(shard, this.#clock.now(), UNREACHABLE_AVOID_MS);
            failed = error;
            return null;
          },
        );
        if (answer === null) continue;
        if ("lease" in answer || answer.refused === "cancelled") return [shard, answer];
        if (answer.refused === "no_accounts") {
          if (!request.exclude?.length) order.avoid(shard, this.#clock.now(), EMPTY_AVOID_MS);
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
      const best = well ?? mostInformative(answers) ?? { shard: first, refused: BUSY };
      let acquired: AcquireResult = best.refused;
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
          order.avoid(best.shard, this.#clock.now(), UNREACHABLE_AVOID_MS);
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
      if (!this.#shouldRetry(acquired, request, round, end)) return [best.shard, acquired];
      await sleep(RETRY_MS * Math.min(MAX_ROUNDS, round + 1), this.#clock);
    }
  }

  /** Whether a request that is refused now may succeed in a moment. */
  #shouldRetry(acquired: AcquireResult, { exclude }: AcquireRequest, round: number, end: number): boolean {
    if ("lease" in acquired) return false;
    const now = this.#clock.now();
    if (now >= end) return false;
    // It waited at a shard that has no available healthy account any more.
    if (acquired.isWell === false && acquired.refused === "no_accounts") return true;
    // The accounts may just have moved to another shard.
    const moved = acquired.refused === "no_accounts" && !exclude?.length;
    // Without a limit the queue has room for as many requests as the pool has slots, and accounts may be about to arrive.
    const mayGetRoom = acquired.refused === "queue_full" && acquired.isFull !== true;
    if ((!moved && !mayGetRoom) || now < this.#noRetryBefore) return false;
    if (round + 1 < MAX_ROUNDS) return true;
    this.#noRetryBefore = now + FUTILE_PAUSE_MS;
    return false;
  }

  /** See `acquireWithoutWaiting`; a shard that does not answer is asked after all others from now on. */
  async #acquireWithoutWaiting(
    order: ShardOrder,
    shard: number,
    request: AcquireRequest,
    signal: AbortSignalLike | undefined,
  ): Promise<AcquireResult | null> {
    const answer = await acquireWithoutWaiting(this.#shards.acquire, this.#clock, shard, request, signal);
    if (answer === null) order.avoid(shard, this.#clock.now(), UNREACHABLE_AVOID_MS);
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
