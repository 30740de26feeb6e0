import type { AcquireRequest } from "../../src/core/ports/accounts.ts";
import type { PoolAccount } from "../../src/core/ports/pool-configuration.ts";
import { TOTAL_UNITS } from "../../src/pool/limit-share.ts";
import { createShardMap, shardNames } from "../../src/pool/shards/layout.ts";
import { POOL_NAME } from "../../src/pool/shards/pool-name.ts";
import { type AcquireOutcome, Waiter } from "../../src/pool/waiter.ts";
import { Books, Violation } from "./books.ts";
import { ModelClock } from "./clock.ts";
import { ModelConfiguration } from "./configuration.ts";
import { Network } from "./network.ts";
import { ModelShard } from "./shard.ts";

/** The next operation as numbers: its kind, and the items that it concerns. */
export type Step = readonly [what: number, one: number, other: number, more: number];

/** Maximum number of shards, number of accounts, and slots per account. */
const MOST_SHARDS = 5;
const ACCOUNTS = 12;
const PER_ACCOUNT = 2;
const CALLERS = 4;
/** Maximum interval of heartbeats to the pool, in milliseconds. */
const BEAT_MS = 1_000;
/** A request that is rejected or granted more than this after its deadline (milliseconds) counts as forgotten. */
const LATE_MS = 1;
/** Maximum time for everything to finish, in milliseconds. */
const TAIL_MS = 60_000;
/** Maximum wait for a slot that is free, in milliseconds. */
const PROBE_MS = 10_000;

/** A request that holds and uses a slot. */
interface Holder {
  readonly shard: ModelShard;
  start: number;
  token: string;
  readonly account: string;
  readonly since: number;
}

/** A request that waits for a slot. */
interface Waiting {
  readonly shard: ModelShard;
  readonly waiter: Waiter;
  readonly until: number;
  readonly since: number;
  readonly provider: string;
}

const provider = (index: number): string => (index % 4 === 3 ? "other" : "");
const accountOf = (index: number): PoolAccount => ({
  id: `account-${index}`,
  email: `account-${index}`,
  mobile: "",
  password: "",
  token: `token-${index}`,
  proxyId: "",
  ...(provider(index) === "" ? {} : { provider: provider(index) }),
});

/** Lets pending promises continue: a response passes through a few of them. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 8; turn += 1) await null;
}

/**
 * Shards that rebalance limits and migrate accounts, requests with and without slots, an unreliable network, and edits of
 * the configuration and of the number of shards. Each step executes one operation.
 */
export class World {
  readonly clock = new ModelClock(Date.UTC(2026, 10, 22));
  readonly network = new Network();
  readonly books = new Books();
  readonly counts = { granted: 0, waited: 0, refused: 0, lost: 0, timedOut: 0, restarts: 0, resized: 0 };
  readonly #configuration: ModelConfiguration;

  readonly #shards: ReadonlyMap<string, ModelShard>;
  readonly #all: readonly ModelShard[];
  #holders: Holder[] = [];
  #waiting: Waiting[] = [];
  #beatAt = 0;
  #requests = 0;
  /** What was violated by an answer that came between two steps. */
  #fault: unknown = null;

  constructor() {
    const limits = { perAccount: PER_ACCOUNT, global: 9, queue: 8, queueWaitMs: 8_000, tokenRefreshMs: 0 };
    const accounts = Array.from({ length: ACCOUNTS }, (_, index) => accountOf(index));
    this.#configuration = new ModelConfiguration(1, accounts, limits);
    this.#shards = new Map(shardNames(MOST_SHARDS).map((name) => [name, new ModelShard(name, this)]));
    this.#all = [...this.#shards.values()];
  }

  shard(name: string): ModelShard {
    const shard = this.#shards.get(name);
    if (shard === undefined) throw new Violation(`there is no shard ${name}`);
    return shard;
  }

  partOf(name: string) {
    return this.#configuration.partOf(name);
  }

  settled(name: string, generation: number): void {
    if (this.#configuration.settled(name, generation)) this.#tell();
  }

  told(): void {
    this.books.told(this.#all.flatMap(({ limits }) => limits ?? []));
  }

  /** Executes one step and checks the invariants. */
  async step([what, one, other, more]: Step): Promise<void> {
    const shard = this.#all[one % this.#all.length];
    if (shard === undefined) return;
    if (what < 330) this.#acquire(more % 4 === 0 ? shard : this.#shardOf(other), other, more);
    else if (what < 445) this.#release(one);
    else if (what < 455) this.#crash(one);
    else if (what < 485) this.#waiting[one % Math.max(1, this.#waiting.length)]?.waiter.cancel();
    else if (what < 610) this.#pass(more % 10 === 0 ? other % 3_000 : other % 300);
    else if (what < 930) this.network.deliver(one, more % 8 === 0);
    else if (what < 945) this.network.lose(one);
    else if (what < 950) this.#restart(shard);
    else if (what < 965) this.#edit(other, more);
    else if (what < 967) this.#resize(other);
    else if (what < 990) this.#tell(one);
    else shard.known();
    await settled();
    this.#look();
  }

  #acquire(shard: ModelShard, other: number, more: number): void {
    const index = other % ACCOUNTS;
    const { id } = accountOf(index);
    const waitMs = [0, 0, 500, 3_000, 12_000, undefined][more % 6];
    this.#request(shard, {
      caller: `caller-${more % CALLERS}`,
      ...(provider(index) === "" ? {} : { provider: provider(index) }),
      ...(waitMs === undefined ? {} : { waitMs }),
      ...(other % 7 === 0 ? { target: id } : {}),
      ...(other % 7 === 1 ? { exclude: [id] } : {}),
    });
  }

  /** Returns the shard of an account in the newest layout. */
  #shardOf(index: number): ModelShard {
    const map = createShardMap(this.#configuration.layout?.shards ?? [POOL_NAME]);
    return this.shard(map.shards[map.of(accountOf(index % ACCOUNTS).id)]?.name ?? POOL_NAME);
  }

  #request(shard: ModelShard, asked: Partial<AcquireRequest>): void {
    this.#requests += 1;
    const came = this.clock.now();
    const acquired = shard.acquire({ requestId: `r${this.#requests}`, model: "m", ...asked });
    const use = (outcome: AcquireOutcome | Waiter) => {
      const since = this.books.next();
      if (outcome instanceof Waiter) {
        this.counts.waited += 1;
        const until =
          asked.waitMs === undefined
            ? this.clock.now() + (shard.limits?.queueWaitMs ?? 0)
            : came + asked.waitMs;
        this.#waiting.push({ shard, waiter: outcome, until, since, provider: asked.provider ?? "" });
      } else if ("granted" in outcome)
        this.#granted(shard, outcome.granted.lease, outcome.granted.account.id);
      else this.counts.refused += 1;
    };
    acquired.then(use).catch((error: unknown) => {
      this.#fault ??= error;
    });
  }

  #granted(shard: ModelShard, token: string, account: string): void {
    this.counts.granted += 1;
    const since = this.books.next();
    this.#holders.push({ shard, start: shard.start, token, account, since });
    this.books.begins(account, Math.min(...this.#holders.map((holder) => holder.since)));
  }

  #ends(holder: Holder): void {
    this.#holders.splice(this.#holders.indexOf(holder), 1);
    this.books.ends(holder.account);
  }

  #release(which: number): void {
    const holder = this.#holders[which % Math.max(1, this.#holders.length)];
    if (holder === undefined) return;
    this.#ends(holder);
    // A restarted pool does not know the lease, so do not release it. It expires.
    if (holder.start === holder.shard.start) holder.shard.pool.release(holder.token);
  }

  /** Ends a request without releasing its slot. */
  #crash(which: number): void {
    const holder = this.#holders[which % Math.max(1, this.#holders.length)];
    if (holder !== undefined) this.#ends(holder);
  }

  /** Sends heartbeats of all holders. Stops holders that have lost their slot. */
  #beat(): void {
    this.#beatAt = this.clock.now() + BEAT_MS;
    for (const holder of [...this.#holders]) {
      const { shard, account } = holder;
      const pool = shard.known();
      if (holder.start === shard.start) {
        if (pool.renew(holder.token)) continue;
      } else {
        const asHolder = { requestId: "r", model: "m", dialect: "", caller: "" };
        const name = pool.resumeLease(holder.token, account, asHolder);
        if (name !== null) {
          holder.token = name;
          holder.start = shard.start;
          continue;
        }
      }
      this.counts.lost += 1;
      this.#ends(holder);
    }
  }

  /** Advances the clock. */
  #pass(ms: number): void {
    const end = this.clock.now() + ms;
    while (this.clock.now() < end) {
      if (this.clock.now() >= this.#beatAt) this.#beat();
      this.clock.advance(Math.min(end, this.#beatAt) - this.clock.now());
    }
  }

  #restart(shard: ModelShard): void {
    this.counts.restarts += 1;
    // Requests that waited there get an error.
    this.#waiting = this.#waiting.filter((waiting) => waiting.shard !== shard);
    shard.restart();
    this.told();
    this.#beatAt = Math.min(this.#beatAt, this.clock.now() + BEAT_MS);
  }

  #edit(other: number, more: number): void {
    const { limits, accounts } = this.#configuration;
    const id = `account-${other % ACCOUNTS}`;
    const others = accounts.filter((account) => account.id !== id);
    if (more % 6 > 0) {
      const edited = others.length < accounts.length ? others : [...accounts, accountOf(other % ACCOUNTS)];
      this.#configuration.edit(edited, limits);
    } else {
      const [global, queue] = [[9, 4, 17, 2, 6, 0, 12][other % 7] ?? 9, [8, 3, 0, 12][(other >> 3) % 4] ?? 8];
      const perAccount = 1 + ((other >> 6) % 3);
      this.#configuration.edit(accounts, { ...limits, global, queue, perAccount });
    }
    this.#tell();
  }

  #resize(other: number): void {
    this.counts.resized += 1;
    this.#configuration.resize(1 + (other % MOST_SHARDS));
    this.#tell();
  }

  /** Sends the configuration to all shards, or to one. Messages may overtake each other. */
  #tell(which?: number): void {
    const { concerned } = this.#configuration;
    const names = which === undefined ? concerned : concerned.slice(which % concerned.length).slice(0, 1);
    for (const name of names) {
      const part = this.#configuration.partOf(name);
      if (part !== null) this.network.send(() => this.shard(name).configure(part));
    }
  }

  /** Processes the outcomes of waiting requests and compares them with the promises. */
  #look(): void {
    if (this.#fault !== null) throw this.#fault;
    const now = this.clock.now();
    const waiting: Waiting[] = [];
    const granted: Waiting[] = [];
    for (const one of this.#waiting) {
      const { outcome } = one.waiter;
      if (outcome === null) {
        if (now > one.until + LATE_MS) throw new Violation(`${one.waiter.request.requestId} still waits`);
        waiting.push(one);
      } else if ("granted" in outcome) granted.push(one);
      else if (outcome.refused === "queue_timeout") this.counts.timedOut += 1;
    }
    this.#waiting = waiting;
    for (const { shard, waiter } of granted) {
      const { outcome } = waiter;
      if (outcome !== null && "granted" in outcome)
        this.#granted(shard, outcome.granted.lease, outcome.granted.account.id);
    }
    for (const lane of ["", "other"]) {
      const those = waiting.filter((one) => one.provider === lane);
      if (those.length > 0) this.books.waits(those.length, Math.min(...those.map(({ since }) => since)));
    }
    this.books.forget(
      Math.min(this.books.next(), ...[...this.#holders, ...waiting].map(({ since }) => since)),
    );
  }

  /** Delivers messages and advances the clock. */
  async #goOn(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      for (let left = 200; this.network.underWay > 0 && left > 0; left -= 1) {
        this.network.deliver(0, false);
        await settled();
        this.#look();
      }
      this.#pass(100);
      await settled();
      this.#look();
    }
  }

  /** Lets everything finish without message loss. Afterwards nothing may be left, and every slot must be available. */
  async close(): Promise<void> {
    const { limits } = this.#configuration;
    this.#configuration.edit(
      Array.from({ length: ACCOUNTS }, (_, index) => accountOf(index)),
      { ...limits, perAccount: PER_ACCOUNT, global: PER_ACCOUNT * ACCOUNTS, queue: 8 },
    );
    this.#tell();
    for (let ms = 0; ms < TAIL_MS; ms += 500) {
      await this.#goOn(500);
      while (this.#holders.length > 0) this.#release(0);
    }
    if (this.#waiting.length > 0) throw new Violation(`${this.#waiting.length} requests still wait`);
    for (const { name, pool } of this.#all) {
      const { in_use, waiting } = pool.status(0);
      if (in_use + waiting > 0)
        throw new Violation(`${in_use} slots and ${waiting} requests are left in ${name}`);
    }
    await this.#probe();
    for (const limit of ["global", "queue"]) this.#count(limit);
  }

  /** Checks that every slot of every account can be acquired at the same time, at the account's present shard. */
  async #probe(): Promise<void> {
    const { accounts } = this.#configuration;
    for (const [index, { id, provider: of }] of accounts.entries()) {
      for (let slot = 0; slot < PER_ACCOUNT; slot += 1) {
        const had = this.#holders.length;
        // A shard may first have to acquire its share of the limits.
        this.#request(this.#shardOf(index), {
          target: id,
          waitMs: PROBE_MS,
          ...(of === undefined ? {} : { provider: of }),
        });
        await settled();
        this.#look();
        for (let ms = 0; ms <= PROBE_MS && this.#holders.length === had; ms += 500) await this.#goOn(500);
      }
    }
    const slots = PER_ACCOUNT * accounts.length;
    if (this.#holders.length < slots)
      throw new Violation(`${this.#holders.length} of ${slots} slots can be had at the end`);
    while (this.#holders.length > 0) this.#release(0);
  }

  /** Checks that the shares of a limit add up: a shard can only receive units that another shard gave. */
  #count(limit: string): void {
    for (const one of this.#all)
      for (const part of one.store.parts.values()) {
        if (part.limit !== limit) continue;
        const theirs = this.shard(part.peer).store.parts.get(`${limit} ${one.name}`);
        if (part.got > (theirs?.given ?? 0) || part.given < 0 || part.got > 1e6 * TOTAL_UNITS)
          throw new Violation(`${one.name} has got ${part.got} units of ${limit} from ${part.peer}`);
      }
  }
}
