import type { ProviderHealthView, ProviderTrouble } from "../../core/ports/account-status.ts";

/** A provider is down after this many failures in a row, or if most of a minute's requests fail, of at least so many. */
const DOWN_FAILURES = 5;

/** How the requests to a provider have ended. Plain data: records of several pools can be added. */
export interface ProviderRecord {
  /** Empty: the default provider. */
  readonly provider: string;
  /** Number of failures since the last success. */
  readonly inRow: number;
  /** Requests of the last minute, and how many of them failed. */
  readonly requests: number;
  readonly failed: number;
  /** The last failure and its time, Unix milliseconds; null: none in the last ten minutes. */
  readonly last: { readonly reason: string; readonly at: number } | null;
  /** Whether the circuit breaker is open: for all models, for some, or not at all. */
  readonly open: "all" | "some" | "none";
}

function rateRecord({ inRow, requests, failed, open }: ProviderRecord): ProviderHealthView["health"] {
  const mostFailed = requests >= DOWN_FAILURES && failed * 2 > requests;
  if (open === "all" || inRow >= DOWN_FAILURES || mostFailed) return "down";
  return open === "some" || inRow > 0 || failed > 0 ? "degraded" : "healthy";
}

/** Adds two pools' records of a provider. A success in either ends the row of failures. */
function addRecords(one: ProviderRecord, other: ProviderRecord): ProviderRecord {
  const works = [one, other].some(({ inRow, requests }) => inRow === 0 && requests > 0);
  const isOpen = one.open !== "none" || other.open !== "none";
  return {
    provider: one.provider,
    inRow: works ? 0 : one.inRow + other.inRow,
    requests: one.requests + other.requests,
    failed: one.failed + other.failed,
    last: (one.last?.at ?? 0) >= (other.last?.at ?? 0) ? one.last : other.last,
    open: isOpen ? (works ? "some" : one.open === "all" || other.open === "all" ? "all" : "some") : "none",
  };
}

/** The providers that are not healthy, from the records of all pools. */
export function listTroubles(records: readonly ProviderRecord[]): ProviderTrouble[] {
  const byProvider = new Map<string, ProviderRecord>();
  for (const record of records) {
    const known = byProvider.get(record.provider);
    byProvider.set(record.provider, known === undefined ? record : addRecords(known, record));
  }
  return [...byProvider.values()].flatMap((record) => {
    const health = rateRecord(record);
    const { provider, last } = record;
    return health === "healthy" ? [] : [{ provider, health, last_error: last }];
  });
}
