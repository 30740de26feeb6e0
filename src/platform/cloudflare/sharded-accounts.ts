import { silentPool } from "../../errors/silent-pool.ts";
import type { AbortSignalLike } from "../../http/light-abort-controller.ts";
import { BEAT_MS } from "../../pool/lease-life.ts";
import { giveBackUnused, SILENT_MS } from "../../shards/asked-shard.ts";
import { type SearchOptions, ShardSearch } from "../../shards/shard-search.ts";
import { mergedStatus } from "../../shards/shard-status.ts";
import { type Shard, ShardMap } from "../../shards/shards.ts";
import type { AccountHealth, QueueStatus } from "../account-status.ts";
import type { AccountPoolClient, Acquired, AcquireRequest, CountAnswer, Granted } from "../accounts.ts";
import { inTime } from "../clock.ts";
import type { KeyUse, LimitedUse, Spent } from "../limits.ts";
import type { PoolConfiguration } from "../pool-configuration.ts";
import type { Place, Region } from "../regions.ts";
import type { HolderClock, Pools, ShardStub } from "./pool-stub.ts";
import { ShardClient } from "./shard-client.ts";
import { ShardedLease } from "./sharded-lease.ts";
import { UseHold } from "./use-hold.ts";

/** If starting the request took longer than this, milliseconds, its lease is renewed before use. */
const LONG_MS = BEAT_MS / 2;

/** Attempts of a request of a key with limits to get a slot, when it loses each before it can start. */
const TRIES = 3;
/** Time limit for an answer of the quota shard, milliseconds. */
const COUNTING_MS = 4_000;
/** Wait limit of a request that names none. */
const MAX_WAIT_MS = 60_000;

/** See {@link SearchOptions}. */
export interface ShardedOptions extends SearchOptions {
  /** The first shard is the quota shard: it counts the usage of keys with limits. */
  readonly shards: readonly (Shard & { readonly client: ShardClient })[];
  readonly clock: HolderClock;
}

/**
 * The account pool of a deployment with several shards. A request tries the nearest shard first, then the others, and waits
 * at one of them. Fairness and the order of arrival hold within one shard; limits hold over all.
 */
export class ShardedAccountPool implements AccountPoolClient {
  readonly #shards: ShardedOptions["shards"];
  readonly #map: ShardMap;
  readonly #clock: HolderClock;
  readonly #search: ShardSearch;
  readonly #clients: readonly ShardClient[];
  readonly #home: ShardClient;
  /** Uses that had a slot: failover to another account is not a new request. */
  readonly #served = new WeakSet<LimitedUse>();

  /** @throws RangeError without shards, or with two shards of one name */
  constructor(options: ShardedOptions) {
    const { shards, clock } = options;
    this.#shards = shards;
    this.#map = new ShardMap(shards);
    this.#clock = clock;
    this.#search = new ShardSearch(options);
    this.#clients = shards.map(({ client }) => client);
    const [home] = this.#clients;
    if (home === undefined) throw new RangeError("there is no shard");
    this.#home = home;
  }

  async acquire(request: AcquireRequest, signal?: AbortSignalLike): Promise<Acquired> {
    const { use, ...withoutUse } = request;
    const end = this.#clock.now() + (request.waitMs ?? MAX_WAIT_MS);
    if (use === undefined) {
      const [shard, acquired] = await this.#search.slot(request, signal, end);
      if (!("lease" in acquired)) return acquired;
      return { ...acquired, lease: this.#leaseOf(acquired, request, shard, null) };
    }
    const sentAt = this.#clock.now();
    const counted = await this.#counted(use);
    if ("refused" in counted) return counted;
    const hold = new UseHold(this.#home, use, sentAt, this.#clock);
    let isServed = false;
    try {
      for (let tries = 0; tries < TRIES; tries += 1) {
        const [shard, acquired] = await this.#search.slot(withoutUse, signal, end);
        if (!("lease" in acquired)) return acquired;
        const begun = await this.#begun(hold, use, acquired);
        if (begun === null) continue;
        if ("refused" in begun) return begun;
        isServed = true;
        this.#served.add(use);
        return {
          ...acquired,
          lease: this.#leaseOf(acquired, request, shard, hold),
          limits: begun.limits,
        };
      }
      return { refused: "queue_timeout" };
    } finally {
      if (!isServed) hold.unserved(this.#isNew(use));
    }
  }

  /** Counts a request of a key with limits. Rejects (503) if the quota shard does not answer. */
  #counted(use: LimitedUse): Promise<CountAnswer> {
    return this.#fromHome(this.#home.hold(use), () => this.#home.unserved(use.id, this.#isNew(use)));
  }

  /** Whether a request has had no slot yet: then no call will settle its usage. */
  #isNew(use: LimitedUse): boolean {
    return !this.#served.has(use);
  }

  /**
   * Waits for the quota shard's answer. Rejects (503) after a time limit.
   *
   * @param late runs if the answer comes after the time limit
   */
  #fromHome<T>(asking: Promise<T>, late?: () => Promise<void>): Promise<T> {
    const silence = "the account pool that counts what keys use does not answer";
    return this.#within(COUNTING_MS, asking, silence, late);
  }

  /** Starts a request of a key with limits that has its slot. Null: the slot was lost meanwhile. */
  async #begun(hold: UseHold, use: LimitedUse, granted: Granted): Promise<CountAnswer | null> {
    const { now } = this.#clock;
    const since = now();
    let isKept = false;
    try {
      const begun = await this.#fromHome(hold.begun(), async () => hold.unserved(this.#isNew(use)));
      if ("refused" in begun) return begun;
      // No heartbeat has renewed the lease meanwhile.
      isKept = now() - since <= LONG_MS || (await granted.lease.renew());
      return isKept ? begun : null;
    } finally {
      if (!isKept) void giveBackUnused(granted);
    }
  }

  count(use: LimitedUse): Promise<CountAnswer> {
    return this.#fromHome(this.#home.count(use));
  }

  settle(use: LimitedUse, spent: Spent): Promise<void> {
    return this.#home.settle(use, spent);
  }

  keyUses(): Promise<KeyUse[]> {
    return this.#fromHome(this.#home.keyUses());
  }

  async status(most?: number): Promise<QueueStatus> {
    const { answers, silent } = await this.#read((client) => client.shardStatus(most));
    return mergedStatus(answers, silent, most);
  }

  async health(ids?: readonly string[]): Promise<AccountHealth[]> {
    return (await this.#read((client) => client.health(ids))).answers.flat();
  }

  async setTestStatus(id: string, status: string): Promise<void> {
    // Shards without the account ignore the call.
    const { silent } = await this.#read((client) => client.setTestStatus(id, status));
    const owner = this.#map.shards[this.#map.of(id)]?.name ?? "";
    if (silent.includes(owner))
      throw silentPool(`the account pool of ${JSON.stringify(id)} does not answer: its test was not noted`);
  }

  async tokensDueForRefresh(): Promise<string[]> {
    return (await this.#read((client) => client.tokensDueForRefresh())).answers.flat();
  }

  /** Collects the answers that arrive in time, and the names of the silent shards; rejects when all fail. */
  async #read<T>(ask: (client: ShardClient) => Promise<T>): Promise<{ answers: T[]; silent: string[] }> {
    const told = await Promise.allSettled(this.#shards.map(async ({ client }) => this.#soon(ask(client))));
    const answers = told.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const failed = told.find(({ status }) => status === "rejected");
    if (answers.length === 0 && failed?.status === "rejected") throw failed.reason;
    return {
      answers,
      silent: this.#shards.flatMap(({ name }, shard) => (told[shard]?.status === "rejected" ? [name] : [])),
    };
  }

  /** Rejects (503) when a shard's answer takes too long. */
  #soon<T>(asking: Promise<T>): Promise<T> {
    return this.#within(SILENT_MS, asking, "an account pool does not answer");
  }

  /**
   * Waits for a shard's answer. Rejects (503, message `silence`) after `ms` milliseconds.
   *
   * @param late runs if the answer comes after the time limit
   */
  async #within<T>(ms: number, asking: Promise<T>, silence: string, late?: () => Promise<void>): Promise<T> {
    const answer = await inTime(
      asking.then((told) => ({ told })),
      ms,
      this.#clock,
    );
    if (answer !== null) return answer.told;
    asking.then(late).catch(() => undefined);
    throw silentPool(silence);
  }

  /** For tests only: in production the configuration object configures each shard. */
  async configure(configuration: PoolConfiguration): Promise<void> {
    const parts = this.#map.split(configuration.accounts);
    await Promise.all(
      this.#clients.map((client, shard) =>
        client.configure({ ...configuration, accounts: parts[shard] ?? [] }),
      ),
    );
  }

  #leaseOf({ lease }: Granted, request: AcquireRequest, shard: number, hold: UseHold | null): ShardedLease {
    const others = this.#clients.filter((_, other) => other !== shard);
    const { provider } = lease.account;
    const isWell = async (other: ShardClient): Promise<true> => {
      if (await this.#soon(other.isWell(provider))) return true;
      throw new Error("none of its accounts is well");
    };
    const othersAreWell = () => Promise.any(others.map(isWell)).catch(() => false);
    return new ShardedLease(lease, request.target === undefined ? othersAreWell : null, hold);
  }
}

/** The shards behind the binding `ACCOUNT_POOL`. Create this once per isolate. */
export function shardedAccounts(
  pools: Pools<ShardStub>,
  names: readonly string[],
  regions: readonly Region[],
  place: () => Place,
  clock: HolderClock,
): ShardedAccountPool {
  const shards = names.map((name, index) => {
    const region = regions[index % regions.length];
    const options = region === undefined ? {} : { locationHint: region };
    return {
      name,
      region: region ?? "",
      client: new ShardClient(() => pools.getByName(name, options), clock),
    };
  });
  return new ShardedAccountPool({ shards, clock, place });
}
