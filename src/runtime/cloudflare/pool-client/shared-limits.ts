import { unresponsivePoolError } from "../../../core/errors/unresponsive-pool.ts";
import { eitherSignal } from "../../../core/http/abort-signals.ts";
import type {
  AcquireGrant,
  AcquireRefusal,
  AcquireRequest,
  AcquireResult,
  Lease,
} from "../../../core/ports/accounts.ts";
import { withTimeout } from "../../../core/ports/clock.ts";
import { HEARTBEAT_MS } from "../../../pool/leases/lease-timing.ts";
import type { HolderClock } from "./pool-stub.ts";
import type { ShardClient } from "./shard-client.ts";

/** Time limit for an answer of the first shard that needs no waiting, milliseconds. */
const ANSWER_TIMEOUT_MS = 4_000;

type Acquire = (request: AcquireRequest, signal: AbortSignal | undefined) => Promise<AcquireResult>;

/**
 * What a request acquires at the first shard, because an administrator has set a limit for all shards together: a
 * shared slot besides the account's, and a place in the shared queue while it waits at any shard.
 */
export class SharedLimits {
  readonly #firstShard: Pick<ShardClient, "acquire">;
  readonly #clock: HolderClock;

  constructor(firstShard: Pick<ShardClient, "acquire">, clock: HolderClock) {
    this.#firstShard = firstShard;
    this.#clock = clock;
  }

  /**
   * Waits for a slot, and meanwhile in the shared queue of all shards (`queue`). If that queue is full, or if it evicts the
   * request in favour of a caller with fewer, the request waits no longer.
   */
  async waitInQueue(
    queue: string,
    acquire: Acquire,
    request: AcquireRequest,
    signal: AbortSignal | undefined,
  ): Promise<AcquireResult> {
    const abort = new AbortController();
    const waitSignal = eitherSignal(signal, abort.signal);
    try {
      const slot = acquire(request, waitSignal);
      const refusal = this.#awaitRefusal(queue, request, waitSignal);
      const outcome = await Promise.race([slot, refusal]);
      if ("lease" in outcome || signal?.aborted === true || (await Promise.race([slot, null])) !== null)
        return await slot;
      abort.abort();
      const last = await slot;
      if ("lease" in last) return last;
      return outcome.refused === "queue_full" ? { ...outcome, isFull: true } : outcome;
    } finally {
      abort.abort();
    }
  }

  /** Resolves when the shared queue lets the request wait no longer; never if there is no such queue. */
  async #awaitRefusal(
    queue: string,
    { requestId, model, dialect, key, caller, waitMs }: AcquireRequest,
    signal: AbortSignal,
  ): Promise<AcquireRefusal> {
    const place: AcquireRequest = {
      requestId,
      model,
      provider: queue,
      ...(dialect === undefined ? {} : { dialect }),
      ...(key === undefined ? {} : { key }),
      ...(caller === undefined ? {} : { caller }),
      ...(waitMs === undefined ? {} : { waitMs }),
    };
    // While the first shard cannot be reached, requests that wait are not counted.
    const outcome = await this.#firstShard.acquire(place, signal).catch(() => null);
    if (outcome !== null && "lease" in outcome) outcome.lease.release();
    const hasEnded = outcome !== null && "refused" in outcome;
    if (hasEnded && (outcome.refused === "queue_full" || outcome.refused === "queue_timeout")) return outcome;
    return new Promise(() => {});
  }

  /**
   * Acquires the shared slot for a request that has an account's. Keeps that lease alive while the request waits. Null: the
   * account's slot was lost, or the limit is not set any more. Rejects (503) when the first shard does not answer.
   *
   * @param end until when the request may wait
   */
  async acquireSlot(
    { lease, shared }: AcquireGrant,
    slots: string,
    request: AcquireRequest,
    signal: AbortSignal | undefined,
    end: number,
  ): Promise<{ readonly lease: Lease } | AcquireRefusal | null> {
    const { requestId, model, dialect, key, caller } = request;
    const slotRequest: AcquireRequest = {
      requestId,
      model,
      provider: slots,
      waitMs: 0,
      ...(dialect === undefined ? {} : { dialect }),
      ...(key === undefined ? {} : { key }),
      ...(caller === undefined ? {} : { caller }),
    };
    const askedAt = this.#clock.now();
    let acquired = await this.#acquireAtOnce(slotRequest, signal);
    const waitMs = end - this.#clock.now();
    if ("refused" in acquired && acquired.refused === "queue_timeout" && waitMs > 0)
      acquired = await this.#waitForSlot(lease, shared?.queue ?? "", { ...slotRequest, waitMs }, signal);
    if ("refused" in acquired)
      return acquired.refused === "no_accounts" || acquired.refused === "target_not_found" ? null : acquired;
    if (this.#clock.now() - askedAt <= HEARTBEAT_MS / 2 || (await lease.renew())) return acquired;
    acquired.lease.release();
    return null;
  }

  async #acquireAtOnce(request: AcquireRequest, signal: AbortSignal | undefined): Promise<AcquireResult> {
    const call = this.#firstShard.acquire(request, signal);
    const acquired = await withTimeout(call, ANSWER_TIMEOUT_MS, this.#clock);
    if (acquired !== null) return acquired;
    void call.then(
      (late) => "lease" in late && late.lease.release(),
      () => undefined,
    );
    throw unresponsivePoolError("the account pool that counts the slots in use does not answer");
  }

  /** Waits for a shared slot, and renews the account's lease meanwhile. */
  async #waitForSlot(
    lease: Lease,
    queue: string,
    request: AcquireRequest,
    signal: AbortSignal | undefined,
  ): Promise<AcquireResult> {
    const abort = new AbortController();
    const waitSignal = eitherSignal(signal, abort.signal);
    let isLost = false;
    let stopTimer = () => {};
    const scheduleRenewal = () => {
      stopTimer = this.#clock.setTimer(HEARTBEAT_MS, () => void renew());
    };
    const renew = async () => {
      isLost = !(await lease.renew().catch(() => false));
      if (isLost) abort.abort();
      else if (!waitSignal.aborted) scheduleRenewal();
    };
    scheduleRenewal();
    try {
      const acquired = await this.waitInQueue(
        queue,
        (slotRequest, slotSignal) => this.#firstShard.acquire(slotRequest, slotSignal),
        request,
        waitSignal,
      );
      return isLost && "refused" in acquired ? { refused: "no_accounts" } : acquired;
    } finally {
      abort.abort();
      stopTimer();
    }
  }
}
