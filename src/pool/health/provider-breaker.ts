import type { ProviderOutageView } from "../../core/ports/account-status.ts";
import type { AccountFailure, AcquireRequest } from "../../core/ports/accounts.ts";
import { PROBE_TIMEOUT_MS } from "./circuit-breaker.ts";
import type { ProviderRecord } from "./provider-record.ts";
import { requestIdentityOf } from "./request-identity.ts";

/** The provider is down after consecutive failures on this many different accounts. */
const OUTAGE_ACCOUNTS = 3;
/** Failures must come from at least this many requests: a single one may be a request that the provider cannot process. */
const OUTAGE_REQUESTS = 2;
/** A series of failures is deleted when nothing was added to it for this long. Milliseconds. */
const SERIES_TTL_MS = 600_000;
/** Maximum number of tracked series. The limit is needed because callers can invent model names. */
const MAX_SERIES = 200;
/** The requests of the last minute are counted in parts of this length, milliseconds. */
const PART_MS = 5_000;
const PARTS = 12;
/** Longest reason of the last failure, in UTF-16 code units. */
const MAX_REASON_LENGTH = 300;
/** Scope of a failure that affects every model. */
const ALL_MODELS = "*";

/** Consecutive failures of the provider, with no success in between. */
class FailureSeries {
  readonly accounts = new Set<string>();
  readonly requests = new Set<string>();
  readonly since: number;
  /**
   * Serial number of the newest lease at the last failure. Results of leases up to this one are ignored: they were granted
   * before the failure.
   */
  failedAtSerial = 0;
  last: AccountFailure;
  /** When the last failure was added, Unix milliseconds. */
  lastAt: number;
  /** The request that probes whether the provider works again. */
  probe: { readonly request: string; readonly since: number } | null = null;

  constructor(last: AccountFailure, since: number) {
    this.last = last;
    this.since = since;
    this.lastAt = since;
  }

  get isOutage(): boolean {
    return this.accounts.size >= OUTAGE_ACCOUNTS && this.requests.size >= OUTAGE_REQUESTS;
  }
}

/** The requests of some seconds, and how many of them failed. */
interface OutcomeCount {
  readonly part: number;
  requests: number;
  failed: number;
}

/** The request that reports a success or a failure, and the serial number of its lease. */
export interface OutcomeSource {
  /** The request's unique identity, not the id that its caller chose. */
  readonly request: string;
  readonly model: string;
  readonly account: string;
  readonly serial: number;
}

/** An outage of the provider, and which requests it affects. */
export interface Outage {
  readonly failure: AccountFailure;
  affects(request: AcquireRequest): boolean;
}

/** The effect of one recorded provider failure. */
export interface FailureEffect {
  /** No failure was recorded since the provider last worked. */
  readonly isFirst: boolean;
  /** The outage that starts with this failure; null: it had started before, or there is none. */
  readonly outageStarted: Outage | null;
  /** The outage that continues because the probe request failed; null: another request failed. */
  readonly outageContinues: Outage | null;
}

/**
 * The circuit breaker of a whole provider and of its models. It opens after failures of several accounts in a row.
 * While it is open, one request at a time probes the provider, and all others wait briefly for the result. An
 * unreachable provider is down for all models; any other failure affects only the requested model. There is no pause
 * before a probe: the first success closes the circuit. It also counts how the requests end, for alerts and status.
 */
export class ProviderBreaker {
  readonly #series = new Map<string, FailureSeries>();
  /** Failures in a row, of any kind and model. */
  #failuresInRow = 0;
  #lastFailure: ProviderRecord["last"] = null;
  #counts: OutcomeCount[] = [];

  /** Whether failures with this model are tracked, so that a success must be reported. */
  tracksModel(model: string): boolean {
    return this.#series.size > 0 && (this.#series.has(model) || this.#series.has(ALL_MODELS));
  }

  /** Records a provider failure. `newest` is the serial number of the newest lease. */
  recordFailure(source: OutcomeSource, failure: AccountFailure, newest: number, now: number): FailureEffect {
    const { account, request, model, serial } = source;
    const scope = failure.kind === "unreachable" ? ALL_MODELS : model;
    this.#dropExpired(now);
    const first = !this.#series.has(scope);
    const series = this.#series.get(scope) ?? new FailureSeries(failure, now);
    series.lastAt = now;
    if (first) this.#evictSeries();
    // Reinsert it, so that the map stays sorted by the last failure, oldest first.
    this.#series.delete(scope);
    this.#series.set(scope, series);
    const wasProbe = this.releaseProbe(request);
    const outage: Outage = {
      failure,
      affects: (candidate) =>
        candidate.target === undefined && (scope === ALL_MODELS || scope === candidate.model),
    };
    const continuedOutage = wasProbe ? outage : null;
    if (serial <= series.failedAtSerial)
      return { isFirst: first, outageStarted: null, outageContinues: continuedOutage };
    const wasOutage = series.isOutage;
    series.accounts.add(account);
    if (series.requests.size < OUTAGE_REQUESTS) series.requests.add(request);
    series.failedAtSerial = newest;
    series.last = failure;
    return {
      isFirst: first,
      outageStarted: !wasOutage && series.isOutage ? outage : null,
      outageContinues: continuedOutage,
    };
  }

  /** Deletes series whose last failure is old, including those of models that are no longer requested. */
  #dropExpired(now: number): void {
    for (const [scope, { lastAt }] of this.#series) {
      if (now - lastAt >= SERIES_TTL_MS) this.#series.delete(scope);
    }
  }

  /** Evicts the oldest series when there are too many, if possible one that is no outage. */
  #evictSeries(): void {
    if (this.#series.size < MAX_SERIES) return;
    const scopes = [...this.#series.keys()];
    const evicted = scopes.find((scope) => this.#series.get(scope)?.isOutage === false) ?? scopes[0];
    if (evicted !== undefined) this.#series.delete(evicted);
  }

  /** Number of tracked series of failures. */
  get size(): number {
    return this.#series.size;
  }

  /** Closes the circuit for the model, unless the lease was granted before the last failure. */
  recordSuccess({ model, serial }: OutcomeSource): void {
    for (const scope of [model, ALL_MODELS]) {
      const series = this.#series.get(scope);
      if (series !== undefined && serial > series.failedAtSerial) this.#series.delete(scope);
    }
  }

  /**
   * Admits a request and returns null, or returns the failure that refuses it. During an outage an admitted request becomes
   * the probe. A retry (with excluded accounts) never probes.
   */
  admitOrFail(request: AcquireRequest, now: number): AccountFailure | null {
    const { model, exclude } = request;
    if (this.#series.size === 0) return null;
    const outages = [ALL_MODELS, model].flatMap((scope) => {
      const series = this.#series.get(scope);
      return series?.isOutage === true ? [series] : [];
    });
    const isRetry = (exclude?.length ?? 0) > 0;
    for (const { probe, last } of outages) {
      if (isRetry || (probe !== null && now - probe.since < PROBE_TIMEOUT_MS)) return last;
    }
    for (const series of outages) series.probe = { request: requestIdentityOf(request), since: now };
    return null;
  }

  /**
   * A request (by its identity) has released its lease or left the queue. If it was the probe, another request may probe.
   * Returns whether it was the probe.
   */
  releaseProbe(request: string): boolean {
    let wasProbe = false;
    for (const series of this.#series.values()) {
      if (series.probe?.request !== request) continue;
      series.probe = null;
      wasProbe = true;
    }
    return wasProbe;
  }

  /** Whether a request is probing the provider for a model. */
  isProbing(model: string, now: number): boolean {
    return [ALL_MODELS, model].some((scope) => {
      const probe = this.#series.get(scope)?.probe ?? null;
      return probe !== null && now - probe.since < PROBE_TIMEOUT_MS;
    });
  }

  /** Whether the provider is down for a model. */
  isDown(model: string): boolean {
    return [ALL_MODELS, model].some((scope) => this.#series.get(scope)?.isOutage === true);
  }

  /**
   * Counts a request that has ended.
   *
   * @param failure null: the request succeeded
   */
  countOutcome(failure: AccountFailure | null, now: number): void {
    const part = Math.floor(now / PART_MS);
    let count = this.#counts.at(-1);
    if (count?.part !== part) {
      count = { part, requests: 0, failed: 0 };
      this.#counts = [...this.#counts.slice(1 - PARTS), count];
    }
    count.requests += 1;
    if (failure === null) {
      this.#failuresInRow = 0;
      return;
    }
    count.failed += 1;
    this.#failuresInRow = this.#recentFailure(now) === null ? 1 : this.#failuresInRow + 1;
    this.#lastFailure = { reason: failure.message.slice(0, MAX_REASON_LENGTH), at: now };
  }

  /** The last failure; null if it is too old to say anything about the present. */
  #recentFailure(now: number): ProviderRecord["last"] {
    return this.#lastFailure !== null && now - this.#lastFailure.at < SERIES_TTL_MS
      ? this.#lastFailure
      : null;
  }

  /** How the requests to the provider have ended. */
  readRecord(provider: string, now: number): ProviderRecord {
    const first = Math.floor(now / PART_MS) - PARTS;
    const recent = this.#counts.filter(({ part }) => part > first);
    const last = this.#recentFailure(now);
    const outages = this.outages(provider);
    return {
      provider,
      inRow: last === null ? 0 : this.#failuresInRow,
      requests: recent.reduce((sum, { requests }) => sum + requests, 0),
      failed: recent.reduce((sum, { failed }) => sum + failed, 0),
      last,
      open: outages.some(({ model }) => model === "") ? "all" : outages.length > 0 ? "some" : "none",
    };
  }

  /** The current outages, for administrators. */
  outages(provider: string): ProviderOutageView[] {
    return [...this.#series].flatMap(([scope, { isOutage, last, since }]) =>
      isOutage
        ? [
            {
              provider,
              model: scope === ALL_MODELS ? "" : scope,
              kind: last.kind,
              reason: last.message,
              since,
            },
          ]
        : [],
    );
  }
}
