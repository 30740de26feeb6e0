import { BEAT_MS } from "../../src/accounts/lease-life.ts";
import type { ShardOrder } from "../../src/accounts/shard-order.ts";
import type { AccountFailure, AccountPoolClient, Acquired, Lease } from "../../src/platform/accounts.ts";
import type { Books } from "./books.ts";
import type { VirtualClock } from "./clock.ts";

/** How many shards are asked for a free slot before a request waits in the queue of one. */
const PASSES = 3;
/** A shard that says nothing for so long, milliseconds, is passed over, and for how long. */
const SILENT_MS = 1_500;
const LOST_MS = 3_000;
/** How long a request may wait in all, milliseconds. */
const WAIT_MS = 20_000;
/** When an account is refused: after how long, and how often a request tries another one. */
const REFUSED_MS = 80;
const SWITCHES = 3;

const BANNED: AccountFailure = {
  kind: "account_suspended",
  message: "suspended",
  status: 403,
  fault: "account",
  retryAfter: null,
};

/** What an isolate runs in. */
export interface Surroundings {
  readonly clock: VirtualClock;
  readonly books: Books;
  readonly banned: ReadonlySet<string>;
}

/** An isolate of the program: the real holders' side of leases, one for each shard, and the order in which it asks them. */
export class Isolate {
  readonly #around: Surroundings;
  readonly #region: number;
  readonly #clients: readonly AccountPoolClient[];
  readonly #order: ShardOrder;

  constructor(
    around: Surroundings,
    region: number,
    clients: readonly AccountPoolClient[],
    order: ShardOrder,
  ) {
    this.#around = around;
    this.#region = region;
    this.#clients = clients;
    this.#order = order;
  }

  /** A request: takes a slot, uses it for so many milliseconds, gives it back. */
  async request(requestId: string, caller: string, ms: number): Promise<void> {
    const { clock, books, banned } = this.#around;
    const arrived = clock.now();
    const exclude: string[] = [];
    books.arrived();
    for (let attempt = 0; attempt <= SWITCHES; attempt += 1) {
      const asked = clock.now();
      const acquired = await this.#acquire({ requestId, model: "m", caller, exclude }, arrived + WAIT_MS);
      if ("refused" in acquired) {
        books.refused(acquired.refused);
        return;
      }
      const { lease } = acquired;
      books.granted(this.#region, clock.now() - asked);
      const isBanned = banned.has(lease.account.id);
      books.begins(lease.account.id);
      const held = await this.#use(lease, isBanned ? REFUSED_MS : ms);
      books.ends(lease.account.id);
      if (!isBanned) {
        if (held) await lease.succeeded().catch(() => undefined);
        lease.release();
        books.finished(held);
        return;
      }
      await lease.failed(BANNED).catch(() => false);
      lease.release();
      exclude.push(lease.account.id);
    }
    books.refused("banned");
  }

  /** Whether the slot was held to the end. */
  async #use(lease: Lease, ms: number): Promise<boolean> {
    const { clock } = this.#around;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    let stopTick = () => {};
    const stop = clock.setTimer(ms, () => resolve(true));
    const tick = () => {
      stopTick = clock.setTimer(BEAT_MS, tick);
      lease.renew().then(
        (holds) => {
          if (!holds) resolve(false);
        },
        () => resolve(false),
      );
    };
    stopTick = clock.setTimer(BEAT_MS, tick);
    const held = await promise;
    stop();
    stopTick();
    return held;
  }

  async #acquire(
    request: { requestId: string; model: string; caller: string; exclude: readonly string[] },
    deadline: number,
  ): Promise<Acquired> {
    const { clock } = this.#around;
    const order = this.#order.next(clock.now());
    const [only = 0] = order;
    const left = () => Math.max(0, deadline - clock.now());
    if (order.length === 1) return this.#ask(only, { ...request, waitMs: left() });
    const answered: number[] = [];
    for (const shard of order.slice(0, PASSES)) {
      const acquired = await this.#askSoon(shard, { ...request, waitMs: 0 });
      if (acquired !== null && "lease" in acquired) return acquired;
      if (acquired !== null) answered.push(shard);
    }
    const [best = only] = answered;
    return this.#ask(best, { ...request, waitMs: left() });
  }

  #ask(shard: number, request: Parameters<AccountPoolClient["acquire"]>[0]): Promise<Acquired> {
    const client = this.#clients[shard];
    if (client === undefined) return Promise.resolve({ refused: "no_accounts" });
    return client.acquire(request).catch((): Acquired => ({ refused: "queue_full" }));
  }

  /** Null when the shard says nothing: a slot that it grants after all goes back. */
  async #askSoon(
    shard: number,
    request: Parameters<AccountPoolClient["acquire"]>[0],
  ): Promise<Acquired | null> {
    const { clock } = this.#around;
    const asking = this.#ask(shard, request);
    let stop = () => {};
    const silence = new Promise<null>((resolve) => {
      stop = clock.setTimer(SILENT_MS, () => resolve(null));
    });
    const answer = await Promise.race([asking, silence]);
    stop();
    if (answer === null) {
      this.#order.avoid(shard, clock.now(), LOST_MS);
      void asking.then((late) => {
        if ("lease" in late) late.lease.release();
      });
    } else if ("refused" in answer) this.#order.avoid(shard, clock.now());
    return answer;
  }
}
