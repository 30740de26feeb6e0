import { sha256Hex } from "../../core/encoding/hash.ts";
import { oncePer } from "../../core/encoding/once.ts";
import { RecentMap } from "../../core/encoding/recent-map.ts";
import type { RequestTrace } from "../../core/ports/context.ts";
import type { RequestOutcome } from "../../core/ports/request-outcome.ts";
import type { Fetch } from "../../core/ports/upstream.ts";
import type { Attempt, RetryBudget } from "../../core/retries/retry-budget.ts";
import type { Exporter } from "./exporter.ts";
import { FIRST_TOKEN, HTTP_DURATION, OPERATION_DURATION, TOKEN_USAGE } from "./instruments.ts";
import {
  createAttemptSpan,
  createServerSpan,
  describeAttempt,
  describeHttpRequest,
  type TracedAttempt,
} from "./request-spans.ts";
import { createSpanId, formatTraceparent, type TraceContext } from "./trace-context.ts";

/** Requests without information: probes repeat endlessly, the console asks every few seconds. */
const UNTRACED = /^\/(?:healthz$|readyz$|admin(?:\/|$))/;

const ACCOUNT_HASH_DIGITS = 16;
const accountHashes = new RecentMap<string>(10_000);

/** The beginning of the SHA-256 of an account's identifier, in hexadecimal. */
async function hashAccount(identifier: string): Promise<string> {
  if (identifier === "") return "";
  const known = accountHashes.get(identifier, 0);
  if (known !== undefined) return known;
  const hash = (await sha256Hex(identifier)).slice(0, ACCOUNT_HASH_DIGITS);
  accountHashes.set(identifier, hash, 0);
  return hash;
}

/** What traces need of the deployment. */
export interface TraceOptions {
  readonly exporter: Exporter;
  readonly sendsTraces: boolean;
  readonly sendsMetrics: boolean;
  /** The name of the default provider. */
  readonly defaultProvider: string;
}

/** Turns a request and its attempts into spans and metrics, when its answer is known. */
export class ExportedTrace implements RequestTrace {
  readonly #options: TraceOptions;
  readonly #trace: TraceContext;
  readonly #spanId = createSpanId();
  readonly #budgets = new Set<Pick<RetryBudget, "attempts">>();
  readonly #spanIdOf = oncePer((_: Readonly<Attempt>) => createSpanId());
  finishReason = "";

  constructor(options: TraceOptions, trace: TraceContext) {
    this.#options = options;
    this.#trace = trace;
  }

  watch(retries: Pick<RetryBudget, "attempts">): void {
    this.#budgets.add(retries);
  }

  propagate(fetch: Fetch, retries: Pick<RetryBudget, "attempts">): Fetch {
    return (url, init) => {
      const attempt = retries.attempts.at(-1);
      const headers = new Headers(init?.headers);
      const spanId = attempt === undefined ? this.#spanId : this.#spanIdOf(attempt);
      headers.set("traceparent", formatTraceparent(this.#trace, spanId));
      return fetch(url, { ...init, headers });
    };
  }

  async end(outcome: RequestOutcome): Promise<void> {
    const { route } = outcome.facts;
    if (route === undefined || UNTRACED.test(route)) return;
    const { exporter, sendsTraces, sendsMetrics } = this.#options;
    const attempts = await this.#describeAttempts();
    if (sendsMetrics) this.#observe(outcome, attempts);
    if (sendsTraces && this.#trace.isSampled) {
      exporter.add([
        createServerSpan(this.#trace, this.#spanId, outcome),
        ...attempts.map((attempt) =>
          createAttemptSpan(this.#trace, this.#spanId, attempt, outcome, this.finishReason),
        ),
      ]);
    }
    await exporter.waitUntilSent();
  }

  #describeAttempts(): Promise<readonly TracedAttempt[]> {
    const attempts = [...this.#budgets].flatMap((budget) => budget.attempts);
    return Promise.all(
      attempts.map(async (attempt, index) => ({
        attempt: { ...attempt },
        spanId: this.#spanIdOf(attempt),
        provider: attempt.provider || this.#options.defaultProvider,
        accountHash: await hashAccount(attempt.account),
        isLast: index === attempts.length - 1,
      })),
    );
  }

  #observe(outcome: RequestOutcome, attempts: readonly TracedAttempt[]): void {
    const { metrics } = this.#options.exporter;
    const { facts, durationMs, startedAt } = outcome;
    metrics.observe(HTTP_DURATION, durationMs / 1_000, describeHttpRequest(outcome));
    for (const traced of attempts) {
      const { at, ms } = traced.attempt;
      const elapsedMs = ms ?? Math.max(0, startedAt + durationMs - at);
      metrics.observe(OPERATION_DURATION, elapsedMs / 1_000, describeAttempt(traced, facts));
    }
    const last = attempts.at(-1);
    if (last === undefined) return;
    const { "error.type": _, ...common } = describeAttempt(last, facts);
    const { promptTokens, completionTokens, firstTokenMs } = facts;
    if (firstTokenMs !== undefined) metrics.observe(FIRST_TOKEN, firstTokenMs / 1_000, common);
    if (promptTokens !== undefined)
      metrics.observe(TOKEN_USAGE, promptTokens, { ...common, "gen_ai.token.type": "input" });
    if (completionTokens !== undefined)
      metrics.observe(TOKEN_USAGE, completionTokens, { ...common, "gen_ai.token.type": "output" });
  }
}
