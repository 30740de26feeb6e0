import type { AbortSignalLike } from "../../http/light-abort-controller.ts";
import { Heartbeat } from "../../pool/heartbeat.ts";
import { BEAT_MS } from "../../pool/lease-life.ts";
import { holderOf } from "../../pool/leases.ts";
import type { Grant } from "../../pool/waiting-queue.ts";
import { POOL_NAME } from "../../shards/pool-name.ts";
import type { AccountHealth, QueueStatus } from "../account-status.ts";
import type {
  AccountPoolClient,
  Acquired,
  AcquireRequest,
  CountAnswer,
  Granted,
  Refused,
} from "../accounts.ts";
import { pause } from "../clock.ts";
import type { KeyUse, LimitedUse, Spent } from "../limits.ts";
import type { PoolConfiguration } from "../pool-configuration.ts";
import {
  call,
  type HolderClock,
  type OnePool,
  type Pools,
  RETRY_PAUSES_MS,
  SYSTEM_CLOCK,
} from "./pool-stub.ts";
import { type Settled, Settlements } from "./settlements.ts";
import { StubLease, type Surroundings } from "./stub-lease.ts";

/**
 * If a grant took longer than this to arrive, the lease is checked early: little time is left for the answer to its first
 * heartbeat.
 */
const LONG_WAY_MS = BEAT_MS / 2;

/**
 * If a grant took longer than this to arrive, the lease is confirmed before use: no time is left to wait for a heartbeat's
 * answer.
 */
const TOO_LONG_WAY_MS = BEAT_MS;

/** Time limit for confirming the lease of a request that waited for its slot. */
const PROOF_MS = 5_000;

/** Wait limit of a request that names none. */
const MAX_WAIT_MS = 60_000;

/** Copies a refusal without the properties that RPC adds. */
export function refusal({ refused, failure, limit, limits, isWell, isFull }: Refused): Refused {
  return {
    refused,
    ...(failure === undefined ? {} : { failure }),
    ...(limit === undefined ? {} : { limit }),
    ...(limits === undefined ? {} : { limits }),
    ...(isWell === undefined ? {} : { isWell }),
    ...(isFull === undefined ? {} : { isFull }),
  };
}

function acquired(lease: StubLease, { limits, configVersion }: Grant): Granted {
  return {
    lease,
    ...(limits === undefined ? {} : { limits }),
    ...(configVersion === undefined ? {} : { configVersion }),
  };
}

/** The account pool of a deployment on Workers: one Durable Object, reached by RPC. */
export class CloudflareAccountPool implements AccountPoolClient {
  readonly #pool: OnePool;
  readonly #clock: HolderClock;
  readonly #around: Surroundings;
  readonly #settlements: Settlements;

  constructor(pool: OnePool, clock: HolderClock) {
    this.#pool = pool;
    this.#clock = clock;
    this.#around = { pool, clock, heartbeat: new Heartbeat(clock.now) };
    this.#settlements = new Settlements(
      (settled) => call(pool, clock, (stub) => stub.settleAll(settled)),
      clock,
    );
  }

  async acquire(request: AcquireRequest, signal?: AbortSignalLike): Promise<Acquired> {
    const { waitMs } = request;
    const started = this.#clock.now();
    const end = started + (waitMs ?? MAX_WAIT_MS);
    for (let attempt = 0; ; attempt += 1) {
      if (signal?.aborted) return { refused: "cancelled" };
      const left = Math.max(0, end - this.#clock.now());
      const acquired = await this.#acquireOnce(
        waitMs === undefined ? request : { ...request, waitMs: left },
        signal,
      );
      if (acquired !== null) return acquired;
      const ms = RETRY_PAUSES_MS[Math.min(attempt, RETRY_PAUSES_MS.length - 1)] ?? 0;
      if (this.#clock.now() + ms >= end) return { refused: "queue_timeout" };
      await pause(ms, this.#clock);
    }
  }

  /** Null if the pool restarted meanwhile: then the request lost its place in the queue. */
  async #acquireOnce(request: AcquireRequest, signal: AbortSignalLike | undefined): Promise<Acquired | null> {
    const holder = holderOf(request);
    let sentAt = this.#clock.now();
    const reply = await this.withSettled((settled) =>
      call(this.#pool, this.#clock, (pool) => {
        sentAt = this.#clock.now();
        return pool.acquire(request, settled);
      }),
    );
    if ("granted" in reply) {
      return this.#proven(
        new StubLease(this.#around, reply.granted, holder, sentAt, reply.lease, reply),
        sentAt,
        reply.granted,
      );
    }
    if ("refused" in reply) return refusal(reply);
    const { place, pending } = reply;
    const leave = () => place[Symbol.dispose]();
    // The request may have been cancelled while the pool looked for a slot.
    if (signal?.aborted) leave();
    signal?.addEventListener("abort", leave, { once: true });
    try {
      // `wait()` itself never fails. An error means that the Durable Object is gone.
      const outcome = await pending.wait().catch(() => null);
      if (outcome === null) return null;
      if ("refused" in outcome) return refusal(outcome);
      if (signal?.aborted) {
        outcome[Symbol.dispose]();
        return { refused: "cancelled" };
      }
      const { granted, lease } = outcome;
      return await this.#proven(
        new StubLease(this.#around, granted, holder, sentAt, lease, outcome),
        sentAt,
        granted,
      );
    } finally {
      signal?.removeEventListener("abort", leave);
      reply[Symbol.dispose]();
    }
  }

  /** Sends a message to the pool, together with the unreported usage of ended requests. */
  protected withSettled<T>(send: (settled: Settled) => Promise<T>): Promise<T> {
    return this.#settlements.with(send);
  }

  /**
   * A grant that took long to arrive may come from a pool that has restarted since: it is valid only once the pool confirms
   * it.
   */
  async #proven(lease: StubLease, sentAt: number, granted: Grant): Promise<Acquired | null> {
    const way = this.#clock.now() - sentAt;
    if (way <= TOO_LONG_WAY_MS) {
      if (way > LONG_WAY_MS) lease.lookSoon();
      return acquired(lease, granted);
    }
    if (await lease.confirm(PROOF_MS)) return acquired(lease, granted);
    lease.release();
    return null;
  }

  async count(use: LimitedUse): Promise<CountAnswer> {
    await this.#settlements.tell();
    const answer = await call(this.#pool, this.#clock, (pool) => pool.count(use));
    return "refused" in answer ? refusal(answer) : { limits: answer.limits };
  }

  async settle({ id, limits }: LimitedUse, spent: Spent): Promise<void> {
    // With a limit of parallel requests, a request in another isolate may wait for this one to end.
    await this.#settlements.add(id, spent, (limits.max_parallel ?? 0) > 0);
  }

  async keyUses(): Promise<KeyUse[]> {
    await this.#settlements.tell();
    return call(this.#pool, this.#clock, (pool) => pool.keyUses());
  }

  async status(most?: number): Promise<QueueStatus> {
    return call(this.#pool, this.#clock, (pool) => pool.status(most));
  }

  async health(ids?: readonly string[]): Promise<AccountHealth[]> {
    return call(this.#pool, this.#clock, (pool) => pool.health(ids));
  }

  async setTestStatus(id: string, status: string): Promise<void> {
    await call(this.#pool, this.#clock, (pool) => pool.setTestStatus(id, status));
  }

  async tokensDueForRefresh(): Promise<string[]> {
    return call(this.#pool, this.#clock, (pool) => pool.tokensDueForRefresh());
  }

  async configure(configuration: PoolConfiguration): Promise<void> {
    await call(this.#pool, this.#clock, (pool) => pool.configure(configuration));
  }
}

/** The account pool behind the binding `ACCOUNT_POOL`. Create it once per isolate. */
export function cloudflareAccounts(
  env: { readonly ACCOUNT_POOL: Pools },
  clock: Partial<HolderClock> = {},
): AccountPoolClient {
  const { ACCOUNT_POOL: pools } = env;
  return new CloudflareAccountPool(() => pools.getByName(POOL_NAME), { ...SYSTEM_CLOCK, ...clock });
}
