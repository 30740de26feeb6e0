import type { AccountPoolClient } from "../../src/core/ports/accounts.ts";
import type { PoolAccount } from "../../src/core/ports/pool-configuration.ts";
import { buildShardConfiguration } from "../../src/pool/shards/layout.ts";
import { type Shard, ShardMap } from "../../src/pool/shards/shard-map.ts";
import { createAccountPoolClient } from "../../src/runtime/cloudflare/pool-client/accounts.ts";
import { ShardClient } from "../../src/runtime/cloudflare/pool-client/shard-client.ts";
import { ShardedAccountPool } from "../../src/runtime/cloudflare/pool-client/sharded-accounts.ts";
import { createRandom, SimulatedClock } from "../../test/support/pool-simulator/clock.ts";
import { Network } from "../../test/support/pool-simulator/network.ts";
import { PoolObject } from "../../test/support/pool-simulator/pool-object.ts";
import { createPoolStub } from "../../test/support/pool-simulator/pool-stub.ts";
import { SlotUsage } from "../../test/support/pool-simulator/slot-usage.ts";
import { Outcomes, type Waits } from "./outcomes.ts";
import { REGIONS, regionOf, roundTrip } from "./regions.ts";
import { runRequest } from "./requests.ts";
import { splitProportionally } from "./split-proportionally.ts";

/** Parameters of a simulation. Times are in milliseconds. */
export interface Scenario {
  readonly accounts: number;
  /** Requests per second, of all regions together. */
  readonly rate: number;
  readonly shards: number;
  /** Duration of the traffic. */
  readonly lengthMs: number;
  readonly seed: number;
  readonly perAccount?: number;
  /** Global limit; 0: the number of slots. */
  readonly global?: number;
  /** Processing time of one call at an object. */
  readonly callMs?: number;
  /** Share of slow streams, of 4 to 12 seconds. The other requests take 0.6 s on average. */
  readonly slow?: number;
  /** Factor of the request rate during one second in the middle. */
  readonly burst?: number;
  /** Share of the accounts that the provider rejects after a third of the time. */
  readonly banned?: number;
  /** Replaces all pools one after the other, at half the time. */
  readonly deployment?: boolean;
  /**
   * The pools and isolates of this region are down for five seconds, from 0.6 of the time on. Its callers use the nearest
   * region.
   */
  readonly lostRegion?: string;
}

export interface Result {
  readonly scenario: Scenario;
  readonly waits: Waits;
  readonly byRegion: readonly Waits[];
  readonly requests: number;
  readonly done: number;
  readonly aborted: number;
  readonly refusals: Readonly<Record<string, number>>;
  readonly doubleGrants: number;
  readonly overLimit: number;
  readonly mostInUse: number;
  readonly messagesPerRequest: number;
  /** Calls and messages per second of the busiest shard. */
  readonly busiestShard: number;
  readonly overloads: number;
  /** Leases that the pools still count, and requests that still wait, at the end. */
  readonly left: number;
}

const START = Date.UTC(2026, 10, 22);
/** Requests per second of one isolate. An assumption: the platform decides. */
const PER_ISOLATE = 100;
const CALLERS = 50;
/** Maximum time of a request after the last arrival: its wait, its stream, and a restart. */
const TAIL_MS = 45_000;
const DOWN_MS = 200;
const REGION_DOWN_MS = 5_000;
const APART_MS = 250;

const accountsOf = (count: number): PoolAccount[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `account-${i}@example.com`,
    email: `account-${i}@example.com`,
    mobile: "",
    password: "",
    token: `token-${i}`,
    proxyId: "",
  }));

/** Distributes the shards over the regions by their share of the requests. */
function placed(count: number): Shard[] {
  const parts = splitProportionally(
    count,
    REGIONS.map(({ share }) => share),
  );
  return REGIONS.flatMap(({ name }, region) =>
    Array.from({ length: parts[region] ?? 0 }, (_, i) => ({ name: `${name}-${i}`, region: name })),
  );
}

/** Runs a scenario to its end. */
export async function simulate(scenario: Scenario): Promise<Result> {
  const { accounts: count, rate, lengthMs, seed, perAccount = 2, global = 0, callMs = 1 } = scenario;
  const { slow = 0.1, burst = 1, banned: bannedShare = 0 } = scenario;
  const random = createRandom(seed);
  const clock = new SimulatedClock(START - 1);
  const map = new ShardMap(placed(scenario.shards));
  const parts = map.split(accountsOf(count));
  const outcomes = new Outcomes();
  const usage = new SlotUsage<string>(perAccount, global || count * perAccount);
  // A message takes half a round trip, plus up to 20 %.
  const oneWay = (from: number, to: number) => () => (roundTrip(from, to) / 2) * (1 + 0.2 * random());
  const shards = map.shards.map(({ name }) => name);
  const limits = { perAccount, global, queue: count * perAccount, queueWaitMs: 20_000, tokenRefreshMs: 0 };
  const layout = { generation: 1, shards, earlier: [], former: [] };
  const configuration = { accounts: parts.flat(), limits };
  const objects = map.shards.map(({ name, region }) => {
    const part = buildShardConfiguration(configuration, layout, name, 1);
    return { name, region: regionOf(region), object: new PoolObject(clock, { configuration: part, callMs }) };
  });
  const banned = new Set<string>();
  const holders = { now: clock.now, setTimer: clock.setTimer, waitUntil: () => {} };
  /** Returns an isolate's client for the pools: as in the program, with one pool or several. */
  const poolSeenFrom = (region: number): AccountPoolClient => {
    const shards = objects.map(({ name, region: where, object }) => {
      const stub = createPoolStub(object, new Network({ clock, latency: oneWay(region, where) }));
      return { name, region: REGIONS[where]?.name ?? "", stub };
    });
    const [only] = shards;
    if (only !== undefined && shards.length === 1)
      return createAccountPoolClient({ ACCOUNT_POOL: { getByName: () => only.stub } }, holders);
    const reached = shards.map(({ stub, ...shard }) => ({
      ...shard,
      client: new ShardClient(() => stub, holders),
    }));
    const place = () => REGIONS[region]?.place ?? { continent: "", longitude: Number.NaN };
    const turn = Math.floor(random() * objects.length);
    return new ShardedAccountPool({ shards: reached, clock: holders, place, turn });
  };
  const context = { clock, outcomes, usage, banned };
  const isolates = REGIONS.map(({ share }, region) =>
    Array.from({ length: Math.max(1, Math.round((rate * share) / PER_ISOLATE)) }, () => poolSeenFrom(region)),
  );

  const lost = scenario.lostRegion === undefined ? -1 : regionOf(scenario.lostRegion);
  const lostFrom = START + 0.6 * lengthMs;
  const refuge = REGIONS.map((_, region) => region)
    .filter((region) => region !== lost)
    .sort((one, other) => roundTrip(lost, one) - roundTrip(lost, other))[0];
  const middle = START + lengthMs / 2;
  let number = 0;
  const exponential = () => -Math.log(1 - random());
  const holdMs = () => (random() < slow ? 4_000 + 8_000 * random() : 600 * exponential());
  for (const [region, { share }] of REGIONS.entries()) {
    const arrive = () => {
      const now = clock.now();
      if (now >= START + lengthMs) return;
      const inLost = region === lost && now >= lostFrom && now < lostFrom + REGION_DOWN_MS;
      const from = inLost ? (refuge ?? region) : region;
      const those = isolates[from] ?? [];
      const times = now >= middle && now < middle + 1_000 ? burst : 1;
      // Number of arrivals in this millisecond: a Poisson process.
      const expected = (rate * share * times) / 1_000;
      for (let at = exponential(); at <= expected; at += exponential()) {
        number += 1;
        const isolate = those[Math.floor(random() * those.length)];
        const caller = `caller-${Math.floor(CALLERS * random() ** 2)}`;
        const request = { requestId: `r${number}`, caller, ms: holdMs() };
        if (isolate !== undefined) void runRequest(context, isolate, from, request);
      }
      clock.setTimer(1, arrive);
    };
    clock.setTimer(0, arrive);
  }
  if (bannedShare > 0)
    clock.setTimer(lengthMs / 3, () => {
      for (const { id } of parts.flat()) if (random() < bannedShare) banned.add(id);
    });
  if (scenario.deployment === true)
    for (const [shard, { object }] of objects.entries())
      clock.setTimer(lengthMs / 2 + shard * APART_MS, () => object.restart({}, DOWN_MS));
  if (lost >= 0)
    clock.setTimer(0.6 * lengthMs, () => {
      for (const { region, object } of objects) if (region === lost) object.restart({}, REGION_DOWN_MS);
    });

  await clock.pass(lengthMs + 1);
  const busiest = Math.max(...objects.map(({ object }) => object.messages));
  await clock.pass(TAIL_MS);
  const messages = objects.reduce((all, { object }) => all + object.messages, 0);
  const left = objects.reduce((all, { object }) => {
    const { in_use, waiting } = object.pool.status(0);
    return all + in_use + waiting;
  }, 0);
  return {
    scenario,
    waits: outcomes.waits(),
    byRegion: outcomes.waitsByRegion(),
    requests: outcomes.requests,
    done: outcomes.done,
    aborted: outcomes.aborted,
    refusals: outcomes.refusals,
    doubleGrants: usage.doubleGrants,
    overLimit: usage.overLimit,
    mostInUse: usage.mostInUse,
    messagesPerRequest: messages / outcomes.requests,
    busiestShard: (1_000 * busiest) / lengthMs,
    overloads: objects.reduce((all, { object }) => all + object.overloads, 0),
    left,
  };
}
