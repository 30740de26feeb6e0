import type { AccountFailure, QuotaWindow } from "../../../core/ports/accounts.ts";
import { sleep } from "../../../core/ports/clock.ts";
import type {
  IsolateReport,
  IsolateReportAnswer,
  IsolateResult,
  KnownSerials,
  StartedRequest,
} from "../../../pool/isolate-reports.ts";
import type { LeaseHolder } from "../../../pool/leases/leases.ts";
import { Batcher } from "../../../records/telemetry/batcher.ts";
import type { HolderClock } from "./pool-stub.ts";

/** What is sent to every shard. */
export type ShardlessReport = Omit<IsolateReport, "shard">;

/** Sends a report to all shards. Resolves with the answer of each; null: it did not answer. */
export type SendReport = (report: ShardlessReport) => Promise<readonly (IsolateReportAnswer | null)[]>;

/** Time between two reports, milliseconds. */
const REPORT_INTERVAL_MS = 1_000;
/** How long the pool's last answer about the accounts' health is valid, milliseconds. */
const ANSWER_TTL_MS = 10_000;
/** Most entries of each list of a report. */
const MAX_ENTRIES = 1_000;
/** How long a request tries to send the last report of the isolate, milliseconds. */
const RETRY_MS = 10_000;
/** A report that takes longer than this belongs to a request that died, milliseconds. */
const STUCK_MS = 5_000;

/** A request that runs on an account which this isolate has selected. */
export class LocalRequest {
  readonly name: string;
  readonly account: string;
  readonly holder: LeaseHolder;
  readonly known: KnownSerials;
  readonly startedAt: number;
  /** The pool knows that it runs. */
  isReported = false;

  constructor(name: string, account: string, holder: LeaseHolder, known: KnownSerials, startedAt: number) {
    this.name = name;
    this.account = account;
    this.holder = holder;
    this.known = known;
    this.startedAt = startedAt;
  }
}

/**
 * Reports to the pool how this isolate's requests on accounts without a limit ended, and receives what other isolates have
 * reported. Failures are reported at once, everything else once a second, after the answers.
 */
export class IsolateReporter {
  readonly #send: SendReport;
  readonly #clock: HolderClock;
  readonly #batcher: Batcher;
  readonly #running = new Map<string, LocalRequest>();
  #isolate = "";
  #serial = 0;
  #ended: string[] = [];
  #results: IsolateResult[] = [];
  /** The successes since the last failure, by account, model and what was known; they stand in `#results`, too. */
  readonly #successes = new Map<string, { succeeded: number }>();
  /** The latest answer of each shard. */
  #answers: (IsolateReportAnswer | null)[] = [];
  #known: KnownSerials = [];
  /** See `IsolateReportAnswer.resting`, with accounts that have failed here since. */
  #resting = new Set<string>();
  #probes = new Set<string>();
  #sentAt = Number.NEGATIVE_INFINITY;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #reports = 0;
  #answeredReport = 0;

  constructor(send: SendReport, clock: HolderClock) {
    this.#send = send;
    this.#clock = clock;
    this.#batcher = new Batcher({
      now: clock.now,
      sleep: (ms) => sleep(ms, clock),
      getDelayMs: () => REPORT_INTERVAL_MS,
      isEmpty: () => this.#ended.length + this.#results.length + this.#running.size === 0,
      send: async () => !(await this.flush()),
      maxWaiters: 3,
      stuckMs: STUCK_MS,
      retryMs: RETRY_MS,
      pollMs: REPORT_INTERVAL_MS,
    });
  }

  /** Whether this isolate knows the accounts' health. */
  get isInformed(): boolean {
    return this.#clock.now() - this.#answeredAt <= ANSWER_TTL_MS;
  }

  /** Whether a provider is down for a model. */
  isDown(provider: string, model: string): boolean {
    const hasOutage = (answer: IsolateReportAnswer | null) =>
      answer?.outages.some((outage) => {
        return outage.provider === provider && (outage.model === "" || outage.model === model);
      }) === true;
    return this.#answers.some(hasOutage);
  }

  /** Accounts that must not be selected. */
  get restingAccounts(): readonly string[] {
    return this.#resting.size === 0 ? [] : [...this.#resting].filter((id) => !this.#probes.has(id));
  }

  /** Asks for the accounts' health, because requests go to the pool at present. */
  refresh(): void {
    if (this.#clock.now() - this.#sentAt >= REPORT_INTERVAL_MS) this.#clock.waitUntil(this.flush());
  }

  /** A request begins on an account. */
  start(account: string, holder: LeaseHolder): LocalRequest {
    this.#probes.delete(account);
    this.#serial += 1;
    const name = String(this.#serial);
    const request = new LocalRequest(name, account, holder, this.#known, this.#clock.now());
    this.#running.set(name, request);
    return request;
  }

  /** Requests still run: reports to the pool when a report is due. */
  tick(): void {
    const sending = this.#batcher.waitUntilSent();
    if (sending !== null) this.#clock.waitUntil(sending);
  }

  /** A request has ended. `hasSucceeded`: false if its result is reported, or says nothing about the account. */
  end(request: LocalRequest, hasSucceeded: boolean): void {
    this.#running.delete(request.name);
    if (request.isReported) this.#ended.push(request.name);
    if (hasSucceeded) this.#addSuccess(request);
    this.tick();
  }

  #addSuccess({ account, holder, known }: LocalRequest): void {
    const key = `${account} ${known.join()} ${holder.model}`;
    const counted = this.#successes.get(key);
    if (counted !== undefined) counted.succeeded += 1;
    else {
      const result = { account, holder, known, succeeded: 1 };
      this.#successes.set(key, result);
      this.#addResult(result);
    }
  }

  /** Tells the pool of a failure. Resolves when this isolate knows what follows from it. Never rejects. */
  async reportFailure({ account, holder, known }: LocalRequest, failure: AccountFailure): Promise<void> {
    if (failure.fault !== "provider") this.#resting.add(account);
    this.#successes.clear();
    this.#addResult({ account, holder, known, failure });
    await this.flush();
  }

  /** Tells the pool of a quota with the next report. */
  reportQuota({ account, holder, known }: LocalRequest, quota: readonly QuotaWindow[]): void {
    this.#addResult({ account, holder, known, quota });
  }

  #addResult(result: IsolateResult): void {
    if (this.#results.length < MAX_ENTRIES) this.#results.push(result);
  }

  /** Whether an account has rested when the pool was last asked, or has failed here since. */
  isResting(account: string): boolean {
    return this.#resting.has(account);
  }

  /**
   * Sends what the pool does not know yet. Never rejects: what could not be sent is sent with the next report.
   *
   * @returns whether it was sent
   */
  async flush(): Promise<boolean> {
    this.#sentAt = this.#clock.now();
    this.#reports += 1;
    const number = this.#reports;
    const [report, newRequests] = this.#takeReport();
    let answers: readonly (IsolateReportAnswer | null)[] = [];
    try {
      answers = await this.#send(report);
    } catch {
      // Handled below.
    }
    if (answers.some((answer) => answer !== null)) {
      this.#applyAnswers(answers, number);
      return true;
    }
    for (const request of newRequests) request.isReported = false;
    this.#ended = [...report.ended, ...this.#ended].slice(0, MAX_ENTRIES);
    this.#successes.clear();
    this.#results = [...report.results, ...this.#results].slice(0, MAX_ENTRIES);
    return false;
  }

  #takeReport(): [ShardlessReport, LocalRequest[]] {
    // Not at the start of an isolate: only requests may use random numbers.
    this.#isolate ||= crypto.randomUUID();
    const started: StartedRequest[] = [];
    const newRequests: LocalRequest[] = [];
    const running: string[] = [];
    for (const request of this.#running.values()) {
      const { name, account, holder, startedAt } = request;
      if (request.isReported) running.push(name);
      else if (started.length < MAX_ENTRIES) {
        request.isReported = true;
        newRequests.push(request);
        started.push({ name, account, holder, ageMs: this.#clock.now() - startedAt });
      }
    }
    const report = {
      isolate: this.#isolate,
      started,
      running,
      ended: this.#ended,
      results: this.#results,
    };
    this.#ended = [];
    this.#results = [];
    this.#successes.clear();
    return [report, newRequests];
  }

  #applyAnswers(answers: readonly (IsolateReportAnswer | null)[], number: number): void {
    if (number < this.#answeredReport) return;
    this.#answeredReport = number;
    this.#answeredAt = this.#clock.now();
    this.#answers = answers.map((answer, shard) => answer ?? this.#answers[shard] ?? null);
    this.#known = this.#answers.map((answer) => answer?.serial ?? 1);
    this.#resting = new Set(this.#answers.flatMap((answer) => answer?.resting ?? []));
    this.#probes = new Set(answers.flatMap((answer) => answer?.probes ?? []));
    // Failures that the pool does not know yet.
    for (const result of this.#results) {
      if ("failure" in result && result.failure.fault !== "provider") this.#resting.add(result.account);
    }
    // A request belongs to one shard; the others do not know it.
    const [first, ...others] = answers.map((answer) => new Set(answer?.unknown));
    for (const name of first ?? []) {
      const request = this.#running.get(name);
      if (request !== undefined && others.every((unknown) => unknown.has(name))) request.isReported = false;
    }
  }
}
