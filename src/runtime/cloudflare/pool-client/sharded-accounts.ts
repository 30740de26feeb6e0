import type { GeoLocation, Region } from "../../../core/config/regions.ts";
import { unresponsivePoolError } from "../../../core/errors/unresponsive-pool.ts";
import type { AccountHealth, QueueStatus } from "../../../core/ports/account-status.ts";
import type {
  AcquireGrant,
  AcquireRequest,
  AcquireResult,
  CountResult,
  Lease,
} from "../../../core/ports/accounts.ts";
import { withTimeout } from "../../../core/ports/clock.ts";
import type { PoolConfiguration } from "../../../core/ports/pool-configuration.ts";
import type { LimitedUse, SpentAmounts, SubjectUsage } from "../../../core/ports/subject-limits.ts";
import { MAX_SLOT_ATTEMPTS } from "../../../core/retries/retry-policy.ts";
import type { IsolateReportAnswer } from "../../../pool/isolate-reports.ts";
import { DEFAULT_WAIT_MS, HEARTBEAT_MS } from "../../../pool/leases/lease-timing.ts";
import { releaseUnused, SHARD_TIMEOUT_MS } from "../../../pool/shards/shard-access.ts";
import { type Shard, ShardMap } from "../../../pool/shards/shard-map.ts";
import { type SearchOptions, ShardSearch } from "../../../pool/shards/shard-search.ts";
import { mergeStatuses } from "../../../pool/shards/shard-status.ts";
import type { ShardlessReport } from "./isolate-reporter.ts";
import { LimitLease } from "./limit-lease.ts";
import type { ReportingAccountPool } from "./local-selection.ts";
import type { HolderClock, PoolNamespace, ShardStub } from "./pool-stub.ts";
import { ShardClient } from "./shard-client.ts";
import { ShardedLease } from "./sharded-lease.ts";
import { SharedLimits } from "./shared-limits.ts";

/** If starting the request took longer than this, milliseconds, its lease is renewed before use. */
const RENEW_AFTER_MS = HEARTBEAT_MS / 2;

/** Time limit for an answer of the limit shard, milliseconds. */
const LIMIT_SHARD_TIMEOUT_MS = 4_000;

/** See {@link SearchOptions}. */
export interface ShardedAccountPoolOptions extends SearchOptions {
  /**
   * The first shard is the limit shard: it counts the usage of subjects with limits, and the
   * limits of all shards together.
   */
  readonly shards: readonly (Shard & { readonly client: ShardClient })[];
  readonly clock: HolderClock;
}

/**
 * The account pool of a deployment with several shards. A request tries the nearest shard first, then the others, and waits
 * at one of them. Fairness and the order of arrival hold within one shard; limits hold over all.
 */
export class ShardedAccountPool implements ReportingAccountPool {
  readonly #shards: ShardedAccountPoolOptions["shards"];
  readonly #map: ShardMap;
  readonly #clock: HolderClock;
  readonly #search: ShardSearch;
  readonly #clients: readonly ShardClient[];
  readonly #limitShard: ShardClient;
  readonly #sharedLimits: SharedLimits;
  /** Uses that had a slot: failover to another account is not a new request. */
  readonly #servedUses = new WeakSet<LimitedUse>();

  /** @throws RangeError without shards, or with two shards of one name */
  constructor(options: ShardedAccountPoolOptions) {
    const { shards, clock } = options;
    this.#shards = shards;
    this.#map = new ShardMap(shards);
    this.#clock = clock;
    this.#clients = shards.map(({ client }) => client);
    const [limitShard] = this.#clients;
    if (limitShard === undefined) throw new RangeError("there is no shard");
    this.#limitShard = limitShard;
    const sharedLimits = new SharedLimits(limitShard, clock);
    this.#sharedLimits = sharedLimits;
    this.#search = new ShardSearch({
      ...options,
      waitInSharedQueue: (...args) => sharedLimits.waitInQueue(...args),
    });
  }

  async acquire(request: AcquireRequest, signal?: AbortSignal): Promise<AcquireResult> {
    const { use, ...withoutUse } = request;
    const deadline = this.#clock.now() + (request.waitMs ?? DEFAULT_WAIT_MS);
    if (use === undefined) {
      const [shard, acquired, sharedSlot] = await this.#findSlot(request, signal, deadline);
      if (!("lease" in acquired)) return acquired;
      return { ...acquired, lease: this.#createLease(acquired, request, shard, null, sharedSlot) };
    }
    const sentAt = this.#clock.now();
    const counted = await this.#reserveUse(use);
    if ("refused" in counted) return counted;
    const limitLease = new LimitLease(this.#limitShard, use, sentAt, this.#clock);
    let isServed = false;
    try {
      for (let attempt = 0; attempt < MAX_SLOT_ATTEMPTS; attempt += 1) {
        const [shard, acquired, sharedSlot] = await this.#findSlot(withoutUse, signal, deadline);
        if (!("lease" in acquired)) return acquired;
        const started = await this.#startUse(limitLease, use, acquired);
        if (started === null || "refused" in started) sharedSlot?.release();
        if (started === null) continue;
        if ("refused" in started) return started;
        isServed = true;
        this.#servedUses.add(use);
        return {
          ...acquired,
          lease: this.#createLease(acquired, request, shard, limitLease, sharedSlot),
          limits: started.limits,
        };
      }
      return { refused: "queue_timeout" };
    } finally {
      if (!isServed) limitLease.cancel(this.#isNew(use));
    }
  }

  /** Finds a slot at a shard, and a shared one at the first shard if there is a limit for all shards together. */
  async #findSlot(
    request: AcquireRequest,
    signal: AbortSignal | undefined,
    deadline: number,
  ): Promise<readonly [shard: number, acquired: AcquireResult, sharedSlot: Lease | null]> {
    for (let attempt = 0; ; attempt += 1) {
      const [shard, acquired] = await this.#search.findSlot(
        { ...request, sharesLimits: true },
        signal,
        deadline,
      );
      const slots = "lease" in acquired ? acquired.shared?.slots : undefined;
      if (!("lease" in acquired) || slots === undefined) return [shard, acquired, null];
      let sharedSlot: Awaited<ReturnType<SharedLimits["acquireSlot"]>> = null;
      try {
        sharedSlot = await this.#sharedLimits.acquireSlot(acquired, slots, request, signal, deadline);
        if (sharedSlot !== null && "lease" in sharedSlot) return [shard, acquired, sharedSlot.lease];
      } finally {
        if (sharedSlot === null || "refused" in sharedSlot) void releaseUnused(acquired);
      }
      if (sharedSlot !== null) return [shard, sharedSlot, null];
      if (attempt + 1 >= MAX_SLOT_ATTEMPTS) return [shard, { refused: "queue_timeout" }, null];
    }
  }

  /** Counts a request of subjects with limits. Rejects (503) if the limit shard does not answer. */
  #reserveUse(use: LimitedUse): Promise<CountResult> {
    return this.#awaitLimitShard(this.#limitShard.reserveUse(use), () =>
      this.#limitShard.cancelUse(use.id, this.#isNew(use)),
    );
  }

  /** Whether a request has had no slot yet: then no call will settle its usage. */
  #isNew(use: LimitedUse): boolean {
    return !this.#servedUses.has(use);
  }

  /**
   * Waits for the limit shard's answer. Rejects (503) after a time limit.
   *
   * @param onLate runs if the answer comes after the time limit
   */
  #awaitLimitShard<T>(call: Promise<T>, onLate?: () => Promise<void>): Promise<T> {
    const message = "the account pool that counts what keys use does not answer";
    return this.#awaitAnswer(LIMIT_SHARD_TIMEOUT_MS, call, message, onLate);
  }

  /** Starts a request of subjects with limits; it has its slot. Null: the slot was lost meanwhile. */
  async #startUse(limitLease: LimitLease, use: LimitedUse, grant: AcquireGrant): Promise<CountResult | null> {
    const { now } = this.#clock;
    const startedAt = now();
    let isValid = false;
    try {
      const started = await this.#awaitLimitShard(limitLease.start(), async () =>
        limitLease.cancel(this.#isNew(use)),
      );
      if ("refused" in started) return started;
      // No heartbeat has renewed the lease meanwhile.
      isValid = now() - startedAt <= RENEW_AFTER_MS || (await grant.lease.renew());
      return isValid ? started : null;
    } finally {
      if (!isValid) void releaseUnused(grant);
    }
  }

  countRequest(use: LimitedUse): Promise<CountResult> {
    return this.#awaitLimitShard(this.#limitShard.countRequest(use));
  }

  settleUsage(use: LimitedUse, spent: SpentAmounts): Promise<void> {
    return this.#limitShard.settleUsage(use, spent);
  }

  listSubjectUsage(subject?: string): Promise<SubjectUsage[]> {
    return this.#awaitLimitShard(this.#limitShard.listSubjectUsage(subject));
  }

  async getStatus(maxEntries?: number): Promise<QueueStatus> {
    const { answers, silent } = await this.#readAllShards((client) => client.shardStatus(maxEntries));
    return mergeStatuses(answers, silent, maxEntries);
  }

  async getHealth(ids?: readonly string[]): Promise<AccountHealth[]> {
    return (await this.#readAllShards((client) => client.getHealth(ids))).answers.flat();
  }

  async setTestStatus(id: string, status: string): Promise<void> {
    // Shards without the account ignore the call.
    const { silent } = await this.#readAllShards((client) => client.setTestStatus(id, status));
    const owner = this.#map.shards[this.#map.of(id)]?.name ?? "";
    if (silent.includes(owner))
      throw unresponsivePoolError(
        `the account pool of ${JSON.stringify(id)} does not answer: its test was not noted`,
      );
  }

  async listTokensDueForRefresh(): Promise<string[]> {
    return (await this.#readAllShards((client) => client.listTokensDueForRefresh())).answers.flat();
  }

  /** Collects the answers that arrive in time, and the names of the silent shards; rejects when all fail. */
  async #readAllShards<T>(
    call: (client: ShardClient) => Promise<T>,
  ): Promise<{ answers: T[]; silent: string[] }> {
    const results = await Promise.allSettled(
      this.#shards.map(async ({ client }) => this.#awaitShard(call(client))),
    );
    const answers = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const failed = results.find(({ status }) => status === "rejected");
    if (answers.length === 0 && failed?.status === "rejected") throw failed.reason;
    return {
      answers,
      silent: this.#shards.flatMap(({ name }, shard) =>
        results[shard]?.status === "rejected" ? [name] : [],
      ),
    };
  }

  /** Rejects (503) when a shard's answer takes too long. */
  #awaitShard<T>(call: Promise<T>): Promise<T> {
    return this.#awaitAnswer(SHARD_TIMEOUT_MS, call, "an account pool does not answer");
  }

  /**
   * Waits for a shard's answer. Rejects (503, with `message`) after `ms` milliseconds.
   *
   * @param onLate runs if the answer comes after the time limit
   */
  async #awaitAnswer<T>(
    ms: number,
    call: Promise<T>,
    message: string,
    onLate?: () => Promise<void>,
  ): Promise<T> {
    const answer = await withTimeout(
      call.then((value) => ({ value })),
      ms,
      this.#clock,
    );
    if (answer !== null) return answer.value;
    call.then(onLate).catch(() => undefined);
    throw unresponsivePoolError(message);
  }

  async sendReport(report: ShardlessReport): Promise<(IsolateReportAnswer | null)[]> {
    const sent = this.#clients.map((client, shard) => this.#awaitShard(client.report({ ...report, shard })));
    return (await Promise.allSettled(sent)).map((result) =>
      result.status === "fulfilled" ? result.value : null,
    );
  }

  /** For tests only: in production the configuration object configures each shard. */
  async configure(configuration: PoolConfiguration): Promise<void> {
    const accountsByShard = this.#map.split(configuration.accounts);
    await Promise.all(
      this.#clients.map((client, shard) =>
        client.configure({ ...configuration, accounts: accountsByShard[shard] ?? [] }),
      ),
    );
  }

  #createLease(
    { lease }: AcquireGrant,
    request: AcquireRequest,
    shard: number,
    limitLease: LimitLease | null,
    sharedSlot: Lease | null,
  ): ShardedLease {
    const otherClients = this.#clients.filter((_, index) => index !== shard);
    const { provider } = lease.account;
    const assertHealthy = async (client: ShardClient): Promise<true> => {
      if (await this.#awaitShard(client.hasHealthyAccount(provider))) return true;
      throw new Error("none of its accounts is well");
    };
    const isOtherShardHealthy = () => Promise.any(otherClients.map(assertHealthy)).catch(() => false);
    const isElsewhereHealthy = request.target === undefined ? isOtherShardHealthy : null;
    return new ShardedLease(lease, isElsewhereHealthy, limitLease, sharedSlot);
  }
}

/** The shards behind the binding `ACCOUNT_POOL`. Create this once per isolate. */
export function createShardedAccountPool(
  pools: PoolNamespace<ShardStub>,
  names: readonly string[],
  regions: readonly Region[],
  getPlace: () => GeoLocation,
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
  return new ShardedAccountPool({ shards, clock, place: getPlace });
}
