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

/** A slot whose request took longer to begin is made sure of, milliseconds. */
const LONG_MS = BEAT_MS / 2;

/** How often a request of a key with limits looks for another slot when its own was lost before it could begin. */
const TRIES = 3;
/** For how long one waits for the shard that counts what keys use, milliseconds. */
const COUNTING_MS = 4_000;
/** How long a request goes on asking that did not say for how long it would. */
const MAX_WAIT_MS = 60_000;

/** See {@link SearchOptions}. */
export interface ShardedOptions extends SearchOptions {
  /** The first one counts what keys with limits use. */
  readonly shards: readonly (Shard & { readonly client: ShardClient })[];
  readonly clock: HolderClock;
}

/**
 * The account pool of a deployment that has several: a request is passed on from the nearest to the next, and waits at one of them.
 * Fairness, and the order of arrival, hold within each; limits hold over all.
 */
export class ShardedAccountPool implements AccountPoolClient {
  readonly #shards: ShardedOptions["shards"];
  readonly #map: ShardMap;
  readonly #clock: HolderClock;
  readonly #search: ShardSearch;
  readonly #clients: readonly ShardClient[];
  readonly #home: ShardClient;
  /** What has had a slot: a request that goes on with another account is the same. */
  readonly #served = new WeakSet<LimitedUse>();

  /** Throws a `RangeError` without shards, or with two of one name. */
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

  /** Has a request of a key with limits counted. Rejects (503) when the shard that counts does not answer. */
  #counted(use: LimitedUse): Promise<CountAnswer> {
    return this.#fromHome(this.#home.hold(use), () => this.#home.unserved(use.id, this.#isNew(use)));
  }

  /** Whether a request has had no slot yet: nobody will say what it has used. */
  #isNew(use: LimitedUse): boolean {
    return !this.#served.has(use);
  }

  /**
   * What the shard says that counts what keys use. Rejects (503) when it does not in time.
   *
   * @param late what is done when it says so later
   */
  #fromHome<T>(asking: Promise<T>, late?: () => Promise<void>): Promise<T> {
    const silence = "the account pool that counts what keys use does not answer";
    return this.#within(COUNTING_MS, asking, silence, late);
  }

  /** Begins a request of a key with limits that has its slot. Null: the slot was lost meanwhile. */
  async #begun(hold: UseHold, use: LimitedUse, granted: Granted): Promise<CountAnswer | null> {
    const { now } = this.#clock;
    const since = now();
    let isKept = false;
    try {
      const begun = await this.#fromHome(hold.begun(), async () => hold.unserved(this.#isNew(use)));
      if ("refused" in begun) return begun;
      // Nobody has looked after the lease meanwhile.
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
    // Who does not have the account passes it over.
    const { silent } = await this.#read((client) => client.setTestStatus(id, status));
    const owner = this.#map.shards[this.#map.of(id)]?.name ?? "";
    if (silent.includes(owner))
      throw silentPool(`the account pool of ${JSON.stringify(id)} does not answer: its test was not noted`);
  }

  async tokensDueForRefresh(): Promise<string[]> {
    return (await this.#read((client) => client.tokensDueForRefresh())).answers.flat();
  }

  /** What those shards say that answer in time, and the names of the others; rejects when none does. */
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

  /** Rejects (503) when the answer of a shard takes too long. */
  #soon<T>(asking: Promise<T>): Promise<T> {
    return this.#within(SILENT_MS, asking, "an account pool does not answer");
  }

  /**
   * What a shard says. Rejects (503, `silence`) when it does not in so many milliseconds.
   *
   * @param late what is done when it says so later
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

  /** For tests: the configuration object tells each shard its part itself. */
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

/** The pools behind the binding `ACCOUNT_POOL`, to be made once an isolate. */
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
