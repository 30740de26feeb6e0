import { BEAT_MS } from "../../accounts/lease-life.ts";
import { distanceFrom } from "../../accounts/regions.ts";
import { mergedStatus } from "../../accounts/shard-status.ts";
import { type Shard, ShardMap, ShardOrder } from "../../accounts/shards.ts";
import type {
  AccountFailure,
  AccountHealth,
  AccountPoolClient,
  Acquired,
  AcquireRequest,
  CountAnswer,
  Granted,
  PoolConfiguration,
  QueueStatus,
  RefusalReason,
  Refused,
} from "../accounts.ts";
import type { KeyUse, LimitedUse, Spent } from "../limits.ts";
import type { Place, Region } from "../regions.ts";
import { type HolderClock, type Pools, pause, type ShardStub } from "./pool-stub.ts";
import { ShardClient } from "./shard-client.ts";
import { ShardedLease } from "./sharded-lease.ts";
import { UseHold } from "./use-hold.ts";

/** How many shards that have accounts are asked for a free slot before a request waits in the queue of one. */
const PASSES = 3;
/** A shard that says nothing for so long, milliseconds, is passed over, and for how long after all others. */
const SILENT_MS = 1_500;
const LOST_MS = 3_000;
/** For how long a shard without accounts is asked after the others, milliseconds. */
const EMPTY_MS = 30_000;
/** How long a request goes on asking that did not say for how long it would. */
const MAX_WAIT_MS = 60_000;
/** After how long a waiting request looks whether another shard has a free slot by now, milliseconds; then after twice as long. */
const LOOK_MS = 1_000;
/** How soon, and how often, a request asks again that no shard has room for: parts of limits, or accounts, may be on their way. */
const AGAIN_MS = 100;
const AGAIN = 3;
/** After that has been in vain others are spared it, milliseconds. */
const VAIN_MS = 1_000;
/** A slot whose request took longer to begin is made sure of, milliseconds. */
const LONG_MS = BEAT_MS / 2;

/** What the order in which shards are asked depends on. */
export interface ShardedOptions {
  /** The first one counts what keys with limits use. */
  readonly shards: readonly (Shard & { readonly client: ShardClient })[];
  readonly clock: HolderClock;
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

/** What came of a request, and at which shard. */
type Taken = readonly [shard: number, acquired: Acquired];

/** Gives a slot back that nobody has used: it says nothing of the account. */
async function release(acquired: Acquired): Promise<void> {
  if (!("lease" in acquired)) return;
  const { lease } = acquired;
  await lease.failed(UNUSED).catch(() => false);
  lease.release();
}

const UNUSED: AccountFailure = {
  kind: "unreachable",
  message: "the slot was not needed",
  status: 0,
  fault: null,
  retryAfter: null,
};

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
 * The account pool of a deployment that has several: a request is passed on from the nearest to the next, and waits at one of them.
 * Fairness, and the order of arrival, hold within each; limits hold over all.
 */
export class ShardedAccountPool implements AccountPoolClient {
  readonly #options: ShardedOptions;
  readonly #clock: HolderClock;
  readonly #map: ShardMap;
  readonly #clients: readonly ShardClient[];
  readonly #home: ShardClient;
  /** By provider: where there is nothing free for one there may be for another. */
  readonly #orders = new Map<string, ShardOrder>();
  #vainUntil = 0;

  /** Throws a `RangeError` without shards, or with two of one name. */
  constructor(options: ShardedOptions) {
    const { shards, clock } = options;
    this.#options = options;
    this.#clock = clock;
    this.#map = new ShardMap(shards);
    this.#clients = shards.map(({ client }) => client);
    const [home] = this.#clients;
    if (home === undefined) throw new RangeError("there is no shard");
    this.#home = home;
  }

  async acquire(request: AcquireRequest, signal?: AbortSignal): Promise<Acquired> {
    const { use, ...withoutUse } = request;
    const end = this.#clock.now() + (request.waitMs ?? MAX_WAIT_MS);
    if (use === undefined) {
      const [shard, acquired] = await this.#slot(request, signal, end);
      if (!("lease" in acquired)) return acquired;
      return { ...acquired, lease: this.#leaseOf(acquired, request, shard, null) };
    }
    const sentAt = this.#clock.now();
    const counted = await this.#home.hold(use);
    if ("refused" in counted) return counted;
    const hold = new UseHold(this.#home, use, sentAt, this.#clock);
    let isServed = false;
    try {
      for (let tries = 0; tries < AGAIN; tries += 1) {
        const [shard, acquired] = await this.#slot(withoutUse, signal, end);
        if (!("lease" in acquired)) return acquired;
        const begun = await this.#begun(hold, acquired);
        if (begun === null) continue;
        if ("refused" in begun) return begun;
        isServed = true;
        return {
          ...acquired,
          lease: this.#leaseOf(acquired, request, shard, hold),
          limits: begun.limits,
        };
      }
      return BUSY;
    } finally {
      if (!isServed) hold.unserved();
    }
  }

  /** Begins a request of a key with limits that has its slot. Null: the slot was lost meanwhile. */
  async #begun(hold: UseHold, granted: Granted): Promise<CountAnswer | null> {
    const { now } = this.#clock;
    const since = now();
    let isKept = false;
    try {
      const begun = await hold.begun();
      if ("refused" in begun) return begun;
      // Nobody has looked after the lease meanwhile.
      isKept = now() - since <= LONG_MS || (await granted.lease.renew());
      return isKept ? begun : null;
    } finally {
      if (!isKept) void release(granted);
    }
  }

  count(use: LimitedUse): Promise<CountAnswer> {
    return this.#home.count(use);
  }

  settle(use: LimitedUse, spent: Spent): Promise<void> {
    return this.#home.settle(use, spent);
  }

  keyUses(): Promise<KeyUse[]> {
    return this.#home.keyUses();
  }

  async status(most?: number): Promise<QueueStatus> {
    return mergedStatus(await this.#read((client) => client.shardStatus(most)), most);
  }

  async health(ids?: readonly string[]): Promise<AccountHealth[]> {
    return (await this.#read((client) => client.health(ids))).flat();
  }

  async setTestStatus(id: string, status: string): Promise<void> {
    // Who does not have the account passes it over.
    await Promise.all(this.#clients.map((client) => client.setTestStatus(id, status)));
  }

  async tokensDueForRefresh(): Promise<string[]> {
    return (await this.#read((client) => client.tokensDueForRefresh())).flat();
  }

  /** What those shards say that answer in time; rejects when none does. */
  async #read<T>(ask: (client: ShardClient) => Promise<T>): Promise<T[]> {
    const told = await Promise.allSettled(this.#clients.map((client) => this.#soon(ask(client))));
    const answers = told.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const failed = told.find(({ status }) => status === "rejected");
    if (answers.length === 0 && failed?.status === "rejected") throw failed.reason;
    return answers;
  }

  /** Rejects when the answer of a shard takes too long. */
  async #soon<T>(asking: Promise<T>): Promise<T> {
    const { promise: silence, reject } = Promise.withResolvers<never>();
    const stop = this.#clock.setTimer(SILENT_MS, () => reject(new Error("an account pool does not answer")));
    try {
      return await Promise.race([asking, silence]);
    } finally {
      stop();
    }
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

  #slot(request: AcquireRequest, signal: AbortSignal | undefined, end: number): Promise<Taken> {
    return request.target === undefined
      ? this.#anyone(request, signal, end)
      : this.#pinned(request, request.target, signal, end);
  }

  /** Any account will do. The result says whose it is. */
  async #anyone(request: AcquireRequest, signal: AbortSignal | undefined, end: number): Promise<Taken> {
    const order = this.#order(request.provider);
    const picky = { ...request, wellOnly: true };
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
      if (lost.size > 0 && answers.every(({ refused }) => refused.refused === "no_accounts")) throw reason;
      const well = answers.find(mayWait);
      const best = well ?? mostTelling(answers) ?? { shard: first, refused: BUSY };
      let acquired: Acquired = best.refused;
      if (best.refused.refused !== "no_accounts") {
        // Where no account is well one that is not will have to do.
        const wanted = well === undefined ? request : picky;
        const taken = await this.#wait(shards, best.shard, wanted, signal, end).catch((error: unknown) => {
          order.avoid(best.shard, this.#clock.now(), LOST_MS);
          lost.add(best.shard);
          reason = error;
          return null;
        });
        if (taken === null) continue;
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
    if ((!moved && acquired.refused !== "queue_full") || now < this.#vainUntil) return false;
    if (round + 1 < AGAIN) return true;
    this.#vainUntil = now + VAIN_MS;
    return false;
  }

  /** Waits in the queue of one shard, and looks now and then whether another one has a free slot. */
  async #wait(
    shards: readonly number[],
    best: number,
    request: AcquireRequest,
    signal: AbortSignal | undefined,
    end: number,
  ): Promise<Taken> {
    const left = Math.max(0, end - this.#clock.now());
    const leaving = new AbortController();
    const leave = () => leaving.abort();
    signal?.addEventListener("abort", leave, { once: true });
    let over = false;
    let stop = () => {};
    const waiting = this.#ask(best, { ...request, waitMs: left }, leaving.signal);
    const others = shards.filter((shard) => shard !== best);
    const { promise: found, resolve: find } = Promise.withResolvers<Taken>();
    const look = (turn: number, afterMs: number) => {
      const shard = others[turn % others.length];
      if (shard === undefined) return;
      stop = this.#clock.setTimer(afterMs, () => {
        this.#ask(shard, { ...request, waitMs: 0 }, leaving.signal).then(
          (acquired) => {
            if ("lease" in acquired) find([shard, acquired]);
            else if (!over) look(turn + 1, 2 * afterMs);
          },
          () => {
            if (!over) look(turn + 1, 2 * afterMs);
          },
        );
      });
    };
    look(0, LOOK_MS);
    const waited = waiting.then((acquired): Taken => [best, acquired]);
    let taken: Taken | null = null;
    try {
      taken = await Promise.race([waited, found]);
      return taken;
    } finally {
      over = true;
      // A slot that is granted beside it goes back.
      for (const spare of [waited, found])
        spare.then(
          (it) => {
            if (it !== taken) void release(it[1]);
          },
          () => undefined,
        );
      leave();
      stop();
      signal?.removeEventListener("abort", leave);
    }
  }

  /** One account is wanted: its shard is asked, and all others if it does not know it by that name. */
  async #pinned(
    request: AcquireRequest,
    target: string,
    signal: AbortSignal | undefined,
    end: number,
  ): Promise<Taken> {
    const owner = this.#map.of(target);
    const others = this.#clients.map((_, shard) => shard).filter((shard) => shard !== owner);
    for (let round = 0; ; round += 1) {
      const left = () => Math.max(0, end - this.#clock.now());
      const first = await this.#ask(owner, { ...request, waitMs: left() }, signal);
      if (!isUnknown(first)) return [owner, first];
      const asked = await Promise.all(
        others.map(async (shard) => ({
          shard,
          acquired: await this.#ask(shard, { ...request, waitMs: 0 }, signal),
        })),
      );
      const known = asked.filter(({ acquired }) => !isUnknown(acquired));
      const granted = known.find(({ acquired }) => "lease" in acquired);
      for (const { acquired } of known) if (acquired !== granted?.acquired) void release(acquired);
      if (granted !== undefined) return [granted.shard, granted.acquired];
      const [there] = known;
      if (there !== undefined) {
        const waited = await this.#ask(there.shard, { ...request, waitMs: left() }, signal);
        if (!isUnknown(waited)) return [there.shard, waited];
      }
      // An account that moves may be unknown to both for a moment.
      if (round > 0 || left() === 0) {
        const all = [first, ...asked.map(({ acquired }) => acquired)];
        const telling = all.find((one) => "refused" in one && one.refused === "target_not_found");
        return [owner, telling ?? first];
      }
      await pause(AGAIN_MS, this.#clock);
    }
  }

  async #ask(shard: number, request: AcquireRequest, signal: AbortSignal | undefined): Promise<Acquired> {
    const client = this.#clients[shard];
    return client === undefined ? { refused: "no_accounts" } : client.acquire(request, signal);
  }

  /** Null when the shard says nothing: a slot that it grants after all goes back. */
  async #askSoon(
    order: ShardOrder,
    shard: number,
    request: AcquireRequest,
    signal: AbortSignal | undefined,
  ): Promise<Acquired | null> {
    const asking = this.#ask(shard, { ...request, waitMs: 0 }, signal);
    const { promise: silence, resolve } = Promise.withResolvers<null>();
    const stop = this.#clock.setTimer(SILENT_MS, () => resolve(null));
    try {
      const answer = await Promise.race([asking, silence]);
      if (answer !== null) return answer;
    } finally {
      stop();
    }
    order.avoid(shard, this.#clock.now(), LOST_MS);
    void asking.then(release, () => undefined);
    return null;
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

/** Whether a shard does not have the account that is wanted. */
function isUnknown(acquired: Acquired): boolean {
  return (
    "refused" in acquired && (acquired.refused === "target_not_found" || acquired.refused === "no_accounts")
  );
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
