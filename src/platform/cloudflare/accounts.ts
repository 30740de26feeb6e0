import type { AccountPool } from "../../../durable-objects/account-pool.ts";
import { LEASE_TTL_MS } from "../../accounts/lease-life.ts";
import type { Holder } from "../../accounts/leases.ts";
import { POOL_NAME } from "../../accounts/pool-name.ts";
import type { Grant } from "../../accounts/waiting-queue.ts";
import type {
  AccountFailure,
  AccountHealth,
  AccountPoolClient,
  Acquired,
  AcquireRequest,
  Lease,
  LeasedAccount,
  PoolConfiguration,
  QueueStatus,
  SignedIn,
  TokenAnswer,
} from "../accounts.ts";

/** Pauses before a call to a pool that was just restarted is tried again, milliseconds. */
const RETRY_PAUSES_MS = [20, 100, 400];

type Pools = DurableObjectNamespace<AccountPool>;

/** A lease on the pool object, as RPC presents it. */
interface LeaseStub extends Disposable {
  renew(): Promise<boolean>;
  token(stale?: string): Promise<TokenAnswer>;
  signedIn(ticket: string, result: SignedIn): Promise<void>;
  signInFailed(ticket: string, failure: AccountFailure): Promise<void>;
  succeeded(): Promise<void>;
  failed(failure: AccountFailure): Promise<boolean>;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Whether the runtime says that the object was restarted or moved, and that a new stub may reach it. */
function mayTryAgain(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const overloaded = "overloaded" in error && error.overloaded === true;
  return !overloaded && (("retryable" in error && error.retryable === true) || "durableObjectReset" in error);
}

/** Calls the pool with a fresh stub, again when it was restarted under the call. */
async function call<T>(pools: Pools, use: (pool: DurableObjectStub<AccountPool>) => Promise<T>): Promise<T> {
  for (const ms of RETRY_PAUSES_MS) {
    try {
      return await use(pools.getByName(POOL_NAME));
    } catch (error) {
      if (!mayTryAgain(error)) throw error;
      await pause(ms);
    }
  }
  return use(pools.getByName(POOL_NAME));
}

/**
 * A lease held over RPC. Disposing of the stub gives the slot back: nothing is sent for it beyond what the runtime sends
 * anyway, and it happens also when the request dies. When the pool object was restarted its stubs are dead, although the
 * slot is still ours: the first call that notices takes the lease over on the new object.
 */
class StubLease implements Lease {
  readonly account: LeasedAccount;
  readonly initialToken: string | null;
  readonly #pools: Pools;
  #lease: string;
  readonly #holder: Holder;
  #stub: LeaseStub;
  /** What ends with the lease: the stub that carries it. */
  #owned: Disposable;
  #failing: boolean;
  #aliveAt = Date.now();
  #released = false;

  constructor(pools: Pools, granted: Grant, holder: Holder, stub: LeaseStub, owned: Disposable) {
    this.#pools = pools;
    this.account = granted.account;
    this.initialToken = granted.token;
    this.#lease = granted.lease;
    this.#failing = granted.failing;
    this.#holder = holder;
    this.#stub = stub;
    this.#owned = owned;
  }

  async token(stale?: string): Promise<TokenAnswer> {
    return (await this.#call((stub) => stub.token(stale))) ?? LOST;
  }

  async signedIn(ticket: string, result: SignedIn): Promise<void> {
    await this.#call((stub) => stub.signedIn(ticket, result));
  }

  async signInFailed(ticket: string, failure: AccountFailure): Promise<void> {
    this.#failing = true;
    await this.#call((stub) => stub.signInFailed(ticket, failure));
  }

  async renew(): Promise<boolean> {
    try {
      return (await this.#call((stub) => stub.renew())) === true;
    } catch {
      // The pool cannot be reached; until the lease must have expired the slot is still ours.
      return !this.#released && Date.now() - this.#aliveAt < LEASE_TTL_MS;
    }
  }

  async succeeded(): Promise<void> {
    if (!this.#failing) return;
    this.#failing = false;
    await this.#call((stub) => stub.succeeded());
  }

  async failed(failure: AccountFailure): Promise<boolean> {
    this.#failing = true;
    return (await this.#call((stub) => stub.failed(failure))) === true;
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#owned[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.release();
  }

  /** Uses the stub, or a new one if it is dead. Null when the lease has ended. */
  async #call<T>(use: (stub: LeaseStub) => Promise<T>): Promise<T | null> {
    if (this.#released) return null;
    let result: T;
    try {
      result = await use(this.#stub);
    } catch {
      // The methods of a lease never throw: the stub is dead.
      if (!(await this.#resume())) return null;
      result = await use(this.#stub);
    }
    this.#aliveAt = Date.now();
    return result;
  }

  async #resume(): Promise<boolean> {
    if (Date.now() - this.#aliveAt >= LEASE_TTL_MS) return false;
    const reply = await call(this.#pools, (pool) => pool.resume(this.#lease, this.account.id, this.#holder));
    if (reply === null) return false;
    if (this.#released) {
      reply[Symbol.dispose]();
      return false;
    }
    this.#owned[Symbol.dispose]();
    this.#lease = reply.name;
    this.#stub = reply.lease;
    this.#owned = reply;
    return true;
  }
}

const LOST: TokenAnswer = {
  failed: {
    kind: "unreachable",
    message: "the account's slot was reclaimed",
    status: 0,
    fault: null,
    retryAfter: null,
  },
};

/** The account pool of a deployment on Workers: one Durable Object, reached by RPC. */
class CloudflareAccountPool implements AccountPoolClient {
  readonly #pools: Pools;

  constructor(pools: Pools) {
    this.#pools = pools;
  }

  async acquire(request: AcquireRequest, signal?: AbortSignal): Promise<Acquired> {
    const started = Date.now();
    for (const ms of RETRY_PAUSES_MS) {
      if (signal?.aborted) return { refused: "cancelled" };
      const acquired = await this.#acquireOnce(request, signal, started);
      if (acquired !== null) return acquired;
      await pause(ms);
    }
    return { refused: "queue_timeout" };
  }

  /** Null when the pool was restarted while the request waited: its place is lost. */
  async #acquireOnce(
    request: AcquireRequest,
    signal: AbortSignal | undefined,
    started: number,
  ): Promise<Acquired | null> {
    const { requestId, model, dialect = "", caller = "" } = request;
    const holder: Holder = { requestId, model, dialect, caller };
    const waited = Date.now() - started;
    const left = request.waitMs === undefined ? {} : { waitMs: Math.max(0, request.waitMs - waited) };
    const reply = await call(this.#pools, async (pool) => await pool.acquire({ ...request, ...left }));
    if ("granted" in reply) {
      return { lease: new StubLease(this.#pools, reply.granted, holder, reply.lease, reply) };
    }
    if ("refused" in reply) return { refused: reply.refused };
    const { place, pending } = reply;
    const leave = () => place[Symbol.dispose]();
    signal?.addEventListener("abort", leave, { once: true });
    try {
      // Waiting itself never fails: if it does, the object that we waited on is gone.
      const outcome = await pending.wait().catch(() => null);
      if (outcome === null) return null;
      if ("refused" in outcome) return { refused: outcome.refused };
      if (signal?.aborted) {
        outcome[Symbol.dispose]();
        return { refused: "cancelled" };
      }
      return { lease: new StubLease(this.#pools, outcome.granted, holder, outcome.lease, outcome) };
    } finally {
      signal?.removeEventListener("abort", leave);
      reply[Symbol.dispose]();
    }
  }

  async status(): Promise<QueueStatus> {
    return call(this.#pools, (pool) => pool.status());
  }

  async health(ids?: readonly string[]): Promise<AccountHealth[]> {
    return call(this.#pools, (pool) => pool.health(ids));
  }

  async setTestStatus(id: string, status: string): Promise<void> {
    await call(this.#pools, (pool) => pool.setTestStatus(id, status));
  }

  async tokensDueForRefresh(): Promise<string[]> {
    return call(this.#pools, (pool) => pool.tokensDueForRefresh());
  }

  async configure(configuration: PoolConfiguration): Promise<void> {
    await call(this.#pools, (pool) => pool.configure(configuration));
  }
}

/** The account pool behind the binding `ACCOUNT_POOL`. */
export function cloudflareAccounts(env: { readonly ACCOUNT_POOL: Pools }): AccountPoolClient {
  return new CloudflareAccountPool(env.ACCOUNT_POOL);
}
