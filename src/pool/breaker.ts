import type { OutageView } from "../platform/account-status.ts";
import type { AccountFailure, AcquireRequest } from "../platform/accounts.ts";
import { identityOf } from "./identity.ts";

/** A provider that fails on so many accounts in a row is down. */
const ACCOUNTS = 3;
/** But not by one request's word: it may be that which the provider cannot take. */
const REQUESTS = 2;
/** When the one that tries has not been answered for so long, another one may try too. Milliseconds. */
const TRIAL_MS = 10_000;
/** A series is forgotten when nothing has been added to it for so long. Milliseconds. */
const FORGOTTEN_MS = 600_000;
/** So many series are remembered. Which models there are callers may make up. */
const MOST_SERIES = 200;
/** Every model. */
const ALL = "*";

/** A series of failures of the provider, with no success in between. */
class Series {
  readonly accounts = new Set<string>();
  readonly requests = new Set<string>();
  readonly since: number;
  /** Leases granted up to this serial number say nothing new: they were granted before the last failure. */
  failedAt = 0;
  last: AccountFailure;
  /** When it was added to, milliseconds. */
  lastAt: number;
  /** The request that tries whether the provider works again. */
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

/** Which request saw a success or a failure, and when it was granted its lease. */
export interface Witness {
  /** Its identity, not what its caller calls it. */
  readonly request: string;
  readonly model: string;
  readonly account: string;
  readonly serial: number;
}

/** That the provider is down, and for whom. */
export interface Outage {
  readonly failure: AccountFailure;
  concerns(request: AcquireRequest): boolean;
}

/** What a failure of the provider comes to. */
export interface Noted {
  /** Nothing had failed since the provider worked last. */
  readonly first: boolean;
  /** The provider is down from now on; null: it was before, or is not. */
  readonly begins: Outage | null;
  /** The provider is still down, says the request that tried; null: the failure was that of another one. */
  readonly goesOn: Outage | null;
}

/**
 * A circuit breaker for the provider as a whole: while it is down one request at a time tries whether it works again, and all
 * others wait a moment for what comes of that. One that cannot be reached is down for all models, one that fails otherwise for the
 * model that it was asked for. There is no pause before a trial: the first success ends the outage.
 */
export class Breaker {
  readonly #series = new Map<string, Series>();

  /** Whether a success with that model is news. */
  watches(model: string): boolean {
    return this.#series.size > 0 && (this.#series.has(model) || this.#series.has(ALL));
  }

  /** The provider failed; `newest` is the number of the newest lease. */
  failed(witness: Witness, failure: AccountFailure, newest: number, now: number): Noted {
    const { account, request, model, serial } = witness;
    const scope = failure.kind === "unreachable" ? ALL : model;
    this.#forget(now);
    const first = !this.#series.has(scope);
    const series = this.#series.get(scope) ?? new Series(failure, now);
    series.lastAt = now;
    if (first) this.#makeRoom();
    // The one that was added to longest ago stays in front.
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

  /** Drops what has long ended, or is no model's that anybody asks for. */
  #forget(now: number): void {
    for (const [scope, { lastAt }] of this.#series) {
      if (now - lastAt >= FORGOTTEN_MS) this.#series.delete(scope);
    }
  }

  /** Drops the oldest series if there are too many: rather one that is no outage. */
  #makeRoom(): void {
    if (this.#series.size < MOST_SERIES) return;
    const scopes = [...this.#series.keys()];
    const least = scopes.find((scope) => this.#series.get(scope)?.isOutage === false) ?? scopes[0];
    if (least !== undefined) this.#series.delete(least);
  }

  /** How many series of failures are remembered. */
  get size(): number {
    return this.#series.size;
  }

  /** The provider works. */
  succeeded({ model, serial }: Witness): void {
    for (const scope of [model, ALL]) {
      const series = this.#series.get(scope);
      if (series !== undefined && serial > series.failedAt) this.#series.delete(scope);
    }
  }

  /**
   * Why a request is refused; null: it may go on, and if the provider is down, is the one that tries. One that has failed
   * already tries nothing.
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
   * A request (its identity) has given up its lease, or its place in the queue: if it was the one that tries, another one may.
   * Returns whether it was.
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

  /** Whether a request tries now whether the provider works again for a model. */
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

  /** For administrators. */
  outages(provider: string): OutageView[] {
    return [...this.#series].flatMap(([scope, { isOutage, last, since }]) =>
      isOutage
        ? [{ provider, model: scope === ALL ? "" : scope, kind: last.kind, reason: last.message, since }]
        : [],
    );
  }
}
