import type { AccountFailure, AccountPoolClient, Lease } from "../../src/core/ports/accounts.ts";
import { HEARTBEAT_MS } from "../../src/pool/lease-timing.ts";
import type { Books } from "./books.ts";
import type { VirtualClock } from "./clock.ts";

/** Maximum total wait of a request, in milliseconds. */
const WAIT_MS = 20_000;
/** The provider rejects a banned account after `REFUSED_MS`; a request fails over at most `SWITCHES` times. */
const REFUSED_MS = 80;
const SWITCHES = 3;

const BANNED: AccountFailure = {
  kind: "account_suspended",
  message: "suspended",
  status: 403,
  fault: "account",
  retryAfter: null,
};

/** Outcome if no pool that might have granted a slot responds. */
const UNREACHABLE = { refused: "unreachable" } as const;

/** Environment of an isolate. */
export interface Surroundings {
  readonly clock: VirtualClock;
  readonly books: Books;
  readonly banned: ReadonlySet<string>;
}

/** A simulated isolate: the program's real pool client, for one or several pools, and requests that use it. */
export class Isolate {
  readonly #around: Surroundings;
  readonly #region: number;
  readonly #pool: AccountPoolClient;

  constructor(around: Surroundings, region: number, pool: AccountPoolClient) {
    this.#around = around;
    this.#region = region;
    this.#pool = pool;
  }

  /** Runs a request: acquires a slot, uses it for `ms` milliseconds, and releases it. */
  async request(requestId: string, caller: string, ms: number): Promise<void> {
    const { clock, books, banned } = this.#around;
    const arrived = clock.now();
    const exclude: string[] = [];
    books.arrived();
    for (let attempt = 0; attempt <= SWITCHES; attempt += 1) {
      const asked = clock.now();
      const waitMs = Math.max(0, arrived + WAIT_MS - asked);
      const acquired = await this.#pool
        .acquire({ requestId, model: "m", caller, exclude, waitMs })
        .catch(() => UNREACHABLE);
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
        if (held) await lease.reportSuccess().catch(() => undefined);
        lease.release();
        books.finished(held);
        return;
      }
      await lease.reportFailure(BANNED).catch(() => false);
      lease.release();
      exclude.push(lease.account.id);
    }
    books.refused("banned");
  }

  /** Returns whether the slot was held to the end. */
  async #use(lease: Lease, ms: number): Promise<boolean> {
    const { clock } = this.#around;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    let stopTick = () => {};
    const stop = clock.setTimer(ms, () => resolve(true));
    const tick = () => {
      stopTick = clock.setTimer(HEARTBEAT_MS, tick);
      lease.renew().then(
        (holds) => {
          if (!holds) resolve(false);
        },
        () => resolve(false),
      );
    };
    stopTick = clock.setTimer(HEARTBEAT_MS, tick);
    const held = await promise;
    stop();
    stopTick();
    return held;
  }
}
