import type { OutageView } from "../platform/account-status.ts";
import type { AccountFailure, AcquireRequest } from "../platform/accounts.ts";
import { identityOf } from "./identity.ts";

/** The provider is down after consecutive failures on this many different accounts. */
const ACCOUNTS = 3;
/** Failures must come from at least this many requests: a single request may itself be what the provider cannot process. */
const REQUESTS = 2;
/** If the probe request has no result after this time, another request may probe. Milliseconds. */
const TRIAL_MS = 10_000;
/** A series of failures is deleted when nothing was added to it for this long. Milliseconds. */
const FORGOTTEN_MS = 600_000;
/** Maximum number of tracked series. The limit is needed because callers can invent model names. */
const MOST_SERIES = 200;
/** Scope of a failure that affects every model. */
const ALL = "*";

/** Consecutive failures of the provider, with no success in between. */
class Series {
  readonly accounts = new Set<string>();
  readonly requests = new Set<string>();
  readonly since: number;
  /**
   * Serial number of the newest lease at the last failure: leases up to it were granted before, so their results are
   * ignored.
   */
  failedAt = 0;
  last: AccountFailure;
  /** When the last failure was added, Unix milliseconds. */
  lastAt: number;
  /** The request that probes whether the provider works again. */
  trial: { readonly request: string; readonly since: number } | null = null;

  constructor(last: AccountFailure, since: number) {
    this.last = last;
    this.since = since;
    this.lastAt = since;
  }

  get isOutage(): boolean {
    return this.accounts.size >= ACCOUNTS && this.requests.size >= REQUESTS;
  }
}

/** The request that reports a success or a failure, and the serial number of its lease. */
export interface Witness {
  /** The request's unique identity, not the id that its caller chose. */
  readonly request: string;
  readonly model: string;
  readonly account: string;
  readonly serial: number;
}

/** An outage of the provider, and which requests it affects. */
export interface Outage {
  readonly failure: AccountFailure;
  concerns(request: AcquireRequest): boolean;
}

/** The effect of one recorded provider failure. */
export interface Noted {
  /** No failure was recorded since the provider last worked. */
  readonly first: boolean;
  /** The outage that starts with this failure; null: it had started before, or there is none. */
  readonly begins: Outage | null;
  /** The outage that continues because the probe request failed; null: another request failed. */
  readonly goesOn: Outage | null;
}

/**
 * A circuit breaker for a whole provider. While the provider is down, one request at a time probes it, and all others wait
 * briefly for the result. An unreachable provider is down for all models; any other failure affects only the requested
 * model. There is no pause before a probe: the first success closes the circuit.
 */
export class Breaker {
  readonly #series = new Map<string, Series>();

  /** Whether failures with this model are tracked, so that a success must be reported. */
  watches(model: string): boolean {
    return this.#series.size > 0 && (this.#series.has(model) || this.#series.has(ALL));
  }

  /** Records a provider failure. `newest` is the serial number of the newest lease. */
  failed(witness: Witness, failure: AccountFailure, newest: number, now: number): Noted {
    const { account, request, model, serial } = witness;
    const scope = failure.kind === "unreachable" ? ALL : model;
    this.#forget(now);
    const first = !this.#series.has(scope);
    const series = this.#series.get(scope) ?? new Series(failure, now);
    series.lastAt = now;
    if (first) this.#makeRoom();
    // Reinsert it, so that the map stays sorted by the last failure, oldest first.
    this.#series.delete(scope);
    this.#series.set(scope, series);
    const tried = this.released(request);
    const outage: Outage = {
      failure,
      concerns: (other) => other.target === undefined && (scope === ALL || scope === other.model),
    };
    const goesOn = tried ? outage : null;
    if (serial <= series.failedAt) return { first, begins: null, goesOn };
    const before = series.isOutage;
    series.accounts.add(account);
    if (series.requests.size < REQUESTS) series.requests.add(request);
    series.failedAt = newest;
    series.last = failure;
    return { first, begins: !before && series.isOutage ? outage : null, goesOn };
  }

  /** Deletes series whose last failure is old, including those of models that are no longer requested. */
  #forget(now: number): void {
    for (const [scope, { lastAt }] of this.#series) {
      if (now - lastAt >= FORGOTTEN_MS) this.#series.delete(scope);
    }
  }

  /** Evicts the oldest series when there are too many. It prefers one that is not an outage. */
  #makeRoom(): void {
    if (this.#series.size < MOST_SERIES) return;
    const scopes = [...this.#series.keys()];
    const least = scopes.find((scope) => this.#series.get(scope)?.isOutage === false) ?? scopes[0];
    if (least !== undefined) this.#series.delete(least);
  }

  /** Number of tracked series of failures. */
  get size(): number {
    return this.#series.size;
  }

  /** Closes the circuit for the model, unless the lease was granted before the last failure. */
  succeeded({ model, serial }: Witness): void {
    for (const scope of [model, ALL]) {
      const series = this.#series.get(scope);
      if (series !== undefined && serial > series.failedAt) this.#series.delete(scope);
    }
  }

  /**
   * Admits a request and returns null, or returns the failure that refuses it. During an outage an admitted request becomes
   * the probe. A retry (with excluded accounts) never probes.
   */
  refusal(asked: AcquireRequest, now: number): AccountFailure | null {
    const { model, exclude } = asked;
    if (this.#series.size === 0) return null;
    const outages = [ALL, model].flatMap((scope) => {
      const series = this.#series.get(scope);
      return series?.isOutage === true ? [series] : [];
    });
    const again = (exclude?.length ?? 0) > 0;
    for (const { trial, last } of outages) {
      if (again || (trial !== null && now - trial.since < TRIAL_MS)) return last;
    }
    for (const series of outages) series.trial = { request: identityOf(asked), since: now };
    return null;
  }

  /**
   * A request (by its identity) has released its lease or left the queue. If it was the probe, another request may probe.
   * Returns whether it was the probe.
   */
  released(request: string): boolean {
    let tried = false;
    for (const series of this.#series.values()) {
      if (series.trial?.request !== request) continue;
      series.trial = null;
      tried = true;
    }
    return tried;
  }

  /** Whether a request is probing the provider for a model. */
  isTried(model: string, now: number): boolean {
    return [ALL, model].some((scope) => {
      const trial = this.#series.get(scope)?.trial ?? null;
      return trial !== null && now - trial.since < TRIAL_MS;
    });
  }

  /** Whether the provider is down for a model. */
  isDown(model: string): boolean {
    return [ALL, model].some((scope) => this.#series.get(scope)?.isOutage === true);
  }

  /** The current outages, for administrators. */
  outages(provider: string): OutageView[] {
    return [...this.#series].flatMap(([scope, { isOutage, last, since }]) =>
      isOutage
        ? [{ provider, model: scope === ALL ? "" : scope, kind: last.kind, reason: last.message, since }]
        : [],
    );
  }
}
