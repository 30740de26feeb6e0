import type { AcquireRefusal, CountResult } from "../core/ports/accounts.ts";
import type { LimitedUse, SpentAmounts, SubjectUsage } from "../core/ports/subject-limits.ts";
import type { UseLedger } from "./limits/use-ledger.ts";
import type { MaintenanceTimers } from "./maintenance-timers.ts";

/**
 * Counts the requests of subjects with limits in this pool's ledger, including requests that use no slot of this pool. A
 * request with a slot of this pool begins and ends with its lease. For a slot of another pool, the isolate reports begin
 * and end.
 */
export class LimitedRequests {
  readonly #ledger: UseLedger;
  readonly #maintenance: MaintenanceTimers;
  readonly #now: () => number;

  constructor(ledger: UseLedger, maintenance: MaintenanceTimers, now: () => number) {
    this.#ledger = ledger;
    this.#maintenance = maintenance;
    this.#now = now;
  }

  /**
   * Resolves when everything counted is written; null: it is already. Rejects when the storage fails: the next write tries
   * again.
   */
  whenStored(): Promise<void> | null {
    return this.#ledger.whenStored();
  }

  /** Writes everything counted immediately. Throws when the storage fails: the next write tries again. */
  writeNow(): void {
    this.#ledger.writeNow();
  }

  /** Reserves the expected use of a request, or returns the limit that does not allow it. */
  reserve(use: LimitedUse): AcquireRefusal | null {
    const now = this.#now();
    const limit = this.#ledger.reserve(use, now);
    return limit === null
      ? null
      : { refused: "limited", limit, limits: this.#ledger.getLimitState(use, now) };
  }

  /** See `AccountPoolClient.countRequest`. */
  count(use: LimitedUse): CountResult {
    const now = this.#now();
    const refusal = this.reserve(use);
    if (refusal !== null) return refusal;
    this.#maintenance.scheduleSweep();
    this.#ledger.begin(use.id, now);
    this.#ledger.settle(use.id, use, now);
    return { limits: this.#ledger.getLimitState(use, now) };
  }

  /** See `AccountPoolClient.settleUsage`. */
  settle(useId: string, spent: SpentAmounts): void {
    this.#ledger.settle(useId, spent, this.#now());
  }

  /** See `AccountPoolClient.listSubjectUsage`. */
  listSubjectUses(only?: string): SubjectUsage[] {
    return this.#ledger.listSubjectUses(this.#now(), only);
  }

  /**
   * Reserves for a request that gets its slot from another pool, or refuses it. The request counts as ended unless {@link
   * keepAlive} is called in time.
   */
  reserveRemote(use: LimitedUse): CountResult {
    const now = this.#now();
    const refusal = this.reserve(use);
    if (refusal !== null) return refusal;
    this.#maintenance.scheduleSweep();
    this.#ledger.recordWaiting(use.id);
    this.#ledger.renewRemote(use.id, now);
    return { limits: this.#ledger.getLimitState(use, now) };
  }

  /** The request has its slot and begins. If it had been treated as ended meanwhile, it is admitted again or refused. */
  beginRemote(use: LimitedUse): CountResult {
    const now = this.#now();
    const refusal = this.reserve(use);
    if (refusal !== null) return refusal;
    this.#maintenance.scheduleSweep();
    this.#ledger.beginRemote(use.id, now);
    return { limits: this.#ledger.getLimitState(use, now) };
  }

  /** The request is still running. */
  keepAlive(useId: string): void {
    this.#ledger.renewRemote(useId, this.#now());
  }

  /**
   * The request got no slot.
   *
   * @param isNew it never had a slot: nothing of it counts, even if its begin was reported
   */
  releaseUnserved(useId: string, isNew = false): void {
    if (isNew) this.#ledger.undo(useId);
    else this.#ledger.releaseReservation(useId, this.#now());
  }
}
