import type { AccountFailure } from "../core/ports/accounts.ts";
import type { ProviderRecord } from "./shards/provider-record.ts";

/** The minute is counted in parts of this length, milliseconds. */
const PART_MS = 5_000;
const PARTS = 12;
/** A failure says nothing about the present after this time, milliseconds. */
const FAILURE_TTL_MS = 600_000;
const MAX_REASON = 300;

interface Part {
  readonly number: number;
  requests: number;
  failed: number;
}

/** Counts how the requests to one provider end. */
export class ProviderHealth {
  #inRow = 0;
  #last: ProviderRecord["last"] = null;
  #parts: Part[] = [];

  /** @param failure null: the request succeeded */
  record(failure: AccountFailure | null, now: number): void {
    const number = Math.floor(now / PART_MS);
    let part = this.#parts.at(-1);
    if (part?.number !== number) {
      part = { number, requests: 0, failed: 0 };
      this.#parts = [...this.#parts.slice(1 - PARTS), part];
    }
    part.requests += 1;
    if (failure === null) {
      this.#inRow = 0;
      return;
    }
    part.failed += 1;
    const isRecent = this.#last !== null && now - this.#last.at < FAILURE_TTL_MS;
    this.#inRow = isRecent ? this.#inRow + 1 : 1;
    this.#last = { reason: failure.message.slice(0, MAX_REASON), at: now };
  }

  read(now: number): Pick<ProviderRecord, "inRow" | "requests" | "failed" | "last"> {
    const first = Math.floor(now / PART_MS) - PARTS;
    const recent = this.#parts.filter(({ number }) => number > first);
    const last = this.#last !== null && now - this.#last.at < FAILURE_TTL_MS ? this.#last : null;
    return {
      inRow: last === null ? 0 : this.#inRow,
      requests: recent.reduce((sum, { requests }) => sum + requests, 0),
      failed: recent.reduce((sum, { failed }) => sum + failed, 0),
      last,
    };
  }
}
