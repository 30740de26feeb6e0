import type { GeoLocation } from "../../core/config/regions.ts";
import type {
  AccountPoolClient,
  AcquireRefusal,
  AcquireRequest,
  AcquireResult,
  RefusalReason,
} from "../../core/ports/accounts.ts";
import { type Clock, sleep } from "../../core/ports/clock.ts";
import { PinnedSearch } from "./pinned-search.ts";
import { distanceFrom } from "./region-distance.ts";
import {
  type AcquireAtShard,
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

/** Waits for a slot in the shared queue of all shards; see `SharedLimits.waitInQueue`. */
export type WaitInSharedQueue = (
  queue: string,
  acquire: (request: AcquireRequest, signal: AbortSignal | undefined) => Promise<AcquireResult>,
  request: AcquireRequest,
  signal: AbortSignal | undefined,
) => Promise<AcquireResult>;

/** The part of a shard that the search for slots needs. */
export interface SearchedShard extends Pick<AccountPoolClient, "acquire"> {
  /** Returns at once: used to check that the shard answers. */
  hasHealthyAccount?(provider?: string): Promise<boolean>;
}

/** Settings that determine the order in which shards are asked. */
export interface SearchOptions {
  readonly shards: readonly (Shard & { readonly client: SearchedShard })[];
  readonly clock: Clock;
  /** Location of this isolate; called at the first request. */
  readonly place: () => GeoLocation;
  /** Distance to a region; by default computed from {@link place}. */
  readonly distance?: (region: string) => number;
  /** Absent: no limit is shared. */
  readonly waitInSharedQueue?: WaitInSharedQueue;
  /** Which of several shards in a region this isolate asks first; random by default. */
  readonly turn?: number;
}

interface ShardRefusal {
  readonly shard: number;
  readonly refused: AcquireRefusal;
}

/** The search of one request for a slot of any account. */
interface AnySlotSearch {
  readonly request: AcquireRequest;
  /** For the first round at `accountShard`: only this shard may let the request wait for its conversation's account. */
  readonly accountShardRequest: AcquireRequest;
  /** For all other shards and rounds. */
  readonly healthyRequest: AcquireRequest;
  /** The shard of its conversation's account; undefined: it has none. */
  readonly accountShard: number | undefined;
  readonly order: ShardOrder;
  readonly signal: AbortSignal | undefined;
  /** Until when the request may wait, Unix milliseconds. */
  readonly end: number;
  /** Until when shards are asked, Unix milliseconds. */
  readonly deadline: number;
  /** Shards at which the request cannot wait, because waiting there failed with `waitError`. */
  readonly failedShards: Set<number>;
  waitError: unknown;
}

const BUSY: AcquireRefusal = { refused: "queue_timeout" };

/** The same request for shards that do not have the account of its conversation. */
function withoutAccount(request: AcquireRequest): AcquireRequest {
  const { selection } = request;
  if (selection === undefined) return request;
  const { waitMs: _, lastAccount: __, ...rest } = selection;
  return { ...request, selection: rest };
}

/** Whether the request may wait at that shard for an available healthy account. */
const mayWait = ({ refused: { refused, hasHealthyAccount } }: ShardRefusal): boolean =>
  refused === "queue_timeout" && hasHealthyAccount === true;

/** Refusal reasons, sorted by how well they explain why no shard granted a slot; the most informative one first. */
const REFUSAL_PRIORITY: readonly RefusalReason[] = [
  "queue_timeout",
  "provider_down",
  "queue_full",
  "target_not_found",
];

function selectMostInformative(refusals: readonly ShardRefusal[]): ShardRefusal | undefined {
  for (const reason of REFUSAL_PRIORITY) {
    const refusal = refusals.find(({ refused }) => refused.refused === reason);
    if (refusal !== undefined) return refusal;
  }
  return refusals[0];
}

/**
 * Finds a slot at one of several shards: asks them one after the other, the nearest first, and then waits at one of them.
 * One instance per isolate.
 */
export class ShardSearch {
  readonly #options: SearchOptions;
  readonly #clock: Clock;
  readonly #shards: ShardAccess;
  readonly #map: ShardMap;
  readonly #pinned: PinnedSearch;
  /** By provider: a shard without free slots for one provider may have some for another. */
  readonly #orders = new Map<string, ShardOrder>();
  #noRetryBefore = 0;

  /** Throws a `RangeError` if there are no shards, or two with the same name. */
  constructor(options: SearchOptions) {
    const { shards, clock, waitInSharedQueue } = options;
    this.#options = options;
    this.#clock = clock;
    const acquire: AcquireAtShard = async (shard, request, signal) => {
      const client = shards[shard]?.client;
      return client === undefined ? { refused: "no_accounts" } : client.acquire(request, signal);
    };
    this.#shards = {
      acquire,
      wait: (shard, request, signal, queue) =>
        queue === undefined || waitInSharedQueue === undefined
          ? acquire(shard, request, signal)
          : waitInSharedQueue(queue, (...args) => acquire(shard, ...args), request, signal),
      ping: async (shard) => shards[shard]?.client.hasHealthyAccount?.(),
    };
    this.#map = new ShardMap(shards);
    this.#pinned = new PinnedSearch(this.#shards, clock, this.#map);
  }

  /**
   * Asks the shards until one grants a slot or none can.
   *
   * @param end until when the request may wait, Unix milliseconds; its own `waitMs` is ignored. While shards do not
   *   answer, the search may take some seconds longer
   * @returns the outcome and the shard. Rejects when no shard can be reached that might grant a slot.
   */
  findSlot(request: AcquireRequest, signal: AbortSignal | undefined, end: number): Promise<ShardOutcome> {
    return request.target === undefined
      ? this.#findAnySlot(request, signal, end)
      : this.#pinned.findSlot(request, request.target, signal, end);
  }

  /** Searches a slot of any account. Also returns the shard of the outcome. */
  async #findAnySlot(
    request: AcquireRequest,
    signal: AbortSignal | undefined,
    end: number,
  ): Promise<ShardOutcome> {
    const search = this.#beginSearch(request, signal, end);
    const { order, accountShard, deadline, failedShards } = search;
    for (let round = 0; ; round += 1) {
      const shards = order
        .nextOrder(this.#clock.now(), accountShard)
        .filter((shard) => !failedShards.has(shard));
      const [first = 0] = shards;
      const asked = await this.#askInTurn(search, shards, round === 0);
      if ("outcome" in asked) return asked.outcome;
      const { refusals } = asked;
      if (this.#clock.now() >= deadline) return [first, BUSY];
      if (failedShards.size > 0 && refusals.every(({ refused }) => refused.refused === "no_accounts"))
        throw search.waitError;
      const waitable = refusals.find(mayWait);
      const best = waitable ?? selectMostInformative(refusals) ?? { shard: first, refused: BUSY };
      let acquired: AcquireResult = best.refused;
      if (best.refused.refused !== "no_accounts") {
        // If no shard has an available healthy account, any account may serve.
        const waitRequest = waitable === undefined ? withoutAccount(request) : search.healthyRequest;
        const outcome = await this.#waitAt(best, search, shards, waitRequest);
        if (outcome === null) {
          if (this.#clock.now() >= end) return [best.shard, BUSY];
          continue;
        }
        if ("lease" in outcome[1]) return outcome;
        acquired = outcome[1];
      }
      if (!this.#shouldRetry(acquired, request, round, end)) return [best.shard, acquired];
      await sleep(RETRY_MS * Math.min(MAX_ROUNDS, round + 1), this.#clock);
    }
  }

  #beginSearch(request: AcquireRequest, signal: AbortSignal | undefined, end: number): AnySlotSearch {
    const lastAccount = request.selection?.lastAccount;
    const accountShardRequest = { ...request, healthyOnly: true };
    return {
      request,
      accountShardRequest,
      healthyRequest: withoutAccount(accountShardRequest),
      accountShard: lastAccount === undefined ? undefined : this.#map.of(lastAccount),
      order: this.#order(request.provider),
      signal,
      end,
      deadline: Math.max(end, this.#clock.now() + MIN_SEARCH_MS),
      failedShards: new Set(),
      waitError: null,
    };
  }

  /**
   * Asks shards for a slot, one after the other, without waiting. Returns the outcome of the search if it is over, else
   * why the shards granted none. Throws if none of them could be reached.
   */
  async #askInTurn(
    { request, accountShardRequest, healthyRequest, accountShard, order, signal, deadline }: AnySlotSearch,
    shards: readonly number[],
    isFirstRound: boolean,
  ): Promise<{ readonly outcome: ShardOutcome } | { readonly refusals: readonly ShardRefusal[] }> {
    const refusals: ShardRefusal[] = [];
    let busyShards = 0;
    let searchError: unknown = null;
    for (const shard of shards) {
      if (busyShards >= SHARDS_BEFORE_WAITING && refusals.some(mayWait)) break;
      if (signal?.aborted) return { outcome: [shard, { refused: "cancelled" }] };
      if (this.#clock.now() >= deadline) return { outcome: [shard, BUSY] };
      const attempt = shard === accountShard && isFirstRound ? accountShardRequest : healthyRequest;
      const result = await this.#acquireWithoutWaiting(order, shard, attempt, signal).catch(
        (error: unknown) => {
          order.avoid(shard, this.#clock.now(), UNREACHABLE_AVOID_MS);
          searchError = error;
          return null;
        },
      );
      if (result === null) continue;
      if ("lease" in result || result.refused === "cancelled") return { outcome: [shard, result] };
      if (result.refused === "no_accounts") {
        if (!request.exclude?.length) order.avoid(shard, this.#clock.now(), EMPTY_AVOID_MS);
      } else {
        order.avoid(shard, this.#clock.now());
        busyShards += 1;
      }
      refusals.push({ shard, refused: result });
    }
    if (refusals.length === 0 && searchError !== null) throw searchError;
    return { refusals };
  }

  /** Waits in the queue of the shard that refused the request. Null: waiting there failed. */
  async #waitAt(
    { shard, refused }: ShardRefusal,
    search: AnySlotSearch,
    checkedShards: readonly number[],
    request: AcquireRequest,
  ): Promise<ShardOutcome | null> {
    const { signal, end } = search;
    const wait = { shard, checkedShards, request, signal, end, queue: refused.shared?.queue };
    try {
      return await waitAtShard(this.#shards, this.#clock, wait);
    } catch (error) {
      search.order.avoid(shard, this.#clock.now(), UNREACHABLE_AVOID_MS);
      search.failedShards.add(shard);
      search.waitError = error;
      return null;
    }
  }

  /** Whether a request that is refused now may succeed in a moment. */
  #shouldRetry(acquired: AcquireResult, { exclude }: AcquireRequest, round: number, end: number): boolean {
    if ("lease" in acquired) return false;
    const now = this.#clock.now();
    if (now >= end) return false;
    // It waited at a shard that has no available healthy account any more.
    if (acquired.hasHealthyAccount === false && acquired.refused === "no_accounts") return true;
    // The accounts may just have moved to another shard.
    const mayHaveMoved = acquired.refused === "no_accounts" && !exclude?.length;
    // Without a limit the queue has room for as many requests as the pool has slots, and accounts may be about to arrive.
    const mayGetRoom = acquired.refused === "queue_full" && acquired.isFull !== true;
    if ((!mayHaveMoved && !mayGetRoom) || now < this.#noRetryBefore) return false;
    if (round + 1 < MAX_ROUNDS) return true;
    this.#noRetryBefore = now + FUTILE_PAUSE_MS;
    return false;
  }

  /** See `acquireWithoutWaiting`; a shard that does not answer is asked after all others from now on. */
  async #acquireWithoutWaiting(
    order: ShardOrder,
    shard: number,
    request: AcquireRequest,
    signal: AbortSignal | undefined,
  ): Promise<AcquireResult | null> {
    const result = await acquireWithoutWaiting(this.#shards.acquire, this.#clock, shard, request, signal);
    if (result === null) order.avoid(shard, this.#clock.now(), UNREACHABLE_AVOID_MS);
    return result;
  }

  #order(provider = ""): ShardOrder {
    let order = this.#orders.get(provider);
    if (order === undefined) {
      const { shards, place, distance = distanceFrom(place()), turn } = this.#options;
      const firstTurn = turn ?? Math.floor(Math.random() * shards.length);
      order = new ShardOrder(shards, [...shards.keys()], distance, firstTurn);
      this.#orders.set(provider, order);
    }
    return order;
  }
}
