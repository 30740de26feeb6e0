import type { Fetch } from "../../core/ports/upstream.ts";
import type { TelemetryVariables } from "../../core/variables/telemetry-variables.ts";
import { Batcher } from "../telemetry/batcher.ts";
import { MetricBuffer } from "./metric-buffer.ts";
import { createMetricsRequest, createTraceRequest, type Metric, type Sender, type Span } from "./otlp.ts";
import { encodeProtobuf } from "./protobuf.ts";

/** Most spans in one message, and most that wait: 2 KB each. What comes then is dropped. */
const MAX_BATCH_SPANS = 512;
export const MAX_WAITING_SPANS = 4_096;
/** Once a whole message waits, it is sent after this time, milliseconds. */
const FULL_BATCH_DELAY_MS = 200;
/** Limit of requests that wait to send. One would be enough, but it may die. */
const MAX_WAITERS = 4;
const POLL_MS = 500;
const REQUEST_TIMEOUT_MS = 10_000;
/** A message that takes longer than this belongs to a request that died. */
const STUCK_MS = REQUEST_TIMEOUT_MS + 1_000;
/** How long a request tries again. Workers give it half a minute after its end. */
const RETRY_MS = 15_000;
/** Answers after which a sender must try again (OTLP 1.x, section "Retryable Response Codes"). */
const RETRYABLE: readonly number[] = [429, 502, 503, 504];

/** The delivery of the messages of one kind since this isolate or process started. */
export interface SignalStatus {
  /** Spans or metrics that the collector took. */
  sent: number;
  /** Spans or metrics that were lost. */
  dropped: number;
  /** Unix milliseconds of the last message that was taken; null: none yet. */
  last_sent_at: number | null;
  /** Why the last message was not taken; null: it was. Contains no text of the collector's. */
  last_error: string | null;
}

const createStatus = (): SignalStatus => ({ sent: 0, dropped: 0, last_sent_at: null, last_error: null });

/** The dependencies of an exporter. */
export interface ExporterOptions {
  readonly telemetry: TelemetryVariables;
  readonly sender: Sender;
  readonly fetch: Fetch;
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

/**
 * Collects the spans and metrics of an isolate and sends them to a collector, in few messages in the background. Messages
 * that the collector could not take are repeated for a while; others are dropped. No request waits or fails because of it.
 */
export class Exporter {
  readonly #options: ExporterOptions;
  readonly #batcher: Batcher;
  #spans: Span[] = [];
  /** Metrics of a message that must be repeated. */
  #unsentMetrics: readonly Metric[] = [];
  readonly metrics: MetricBuffer;
  readonly traceStatus = createStatus();
  readonly metricStatus = createStatus();

  constructor(options: ExporterOptions) {
    this.#options = options;
    const { now, sleep, telemetry } = options;
    this.metrics = new MetricBuffer(now);
    this.#batcher = new Batcher({
      now,
      sleep,
      getDelayMs: () =>
        this.#spans.length < MAX_BATCH_SPANS
          ? telemetry.delayMs
          : Math.min(telemetry.delayMs, FULL_BATCH_DELAY_MS),
      isEmpty: () => this.#isEmpty(),
      send: async () => {
        await Promise.all([this.#sendSpans(), this.#sendMetrics()]);
        return !this.#isEmpty();
      },
      maxWaiters: MAX_WAITERS,
      stuckMs: STUCK_MS,
      retryMs: RETRY_MS,
      pollMs: Math.min(POLL_MS, telemetry.delayMs),
    });
  }

  /** Adds spans; drops them if too many wait. */
  add(spans: readonly Span[]): void {
    const room = MAX_WAITING_SPANS - this.#spans.length;
    this.#spans.push(...spans.slice(0, Math.max(room, 0)));
    this.traceStatus.dropped += Math.max(spans.length - room, 0);
  }

  /** Resolves when everything that waits now is sent; null if enough other requests wait for that. Never rejects. */
  waitUntilSent(): Promise<void> | null {
    return this.#batcher.waitUntilSent();
  }

  #isEmpty(): boolean {
    return this.#spans.length === 0 && this.metrics.isEmpty && this.#unsentMetrics.length === 0;
  }

  async #sendSpans(): Promise<void> {
    const { telemetry, sender } = this.#options;
    while (this.#spans.length > 0 && telemetry.tracesUrl !== null) {
      const batch = this.#spans.slice(0, MAX_BATCH_SPANS);
      this.#spans = this.#spans.slice(batch.length);
      const request = createTraceRequest(sender, batch);
      const mustRepeat = await this.#post(
        telemetry.tracesUrl,
        "TraceRequest",
        request,
        this.traceStatus,
        batch.length,
      );
      if (!mustRepeat) continue;
      const newer = this.#spans;
      this.#spans = [];
      this.add(batch);
      this.add(newer);
      return;
    }
  }

  async #sendMetrics(): Promise<void> {
    const { telemetry, sender } = this.#options;
    if (telemetry.metricsUrl === null) return;
    const isRepeated = this.#unsentMetrics.length > 0;
    const metrics = isRepeated ? this.#unsentMetrics : this.metrics.take();
    this.#unsentMetrics = [];
    if (metrics.length === 0) return;
    const request = createMetricsRequest(sender, metrics);
    const mustRepeat = await this.#post(
      telemetry.metricsUrl,
      "MetricsRequest",
      request,
      this.metricStatus,
      metrics.length,
    );
    if (mustRepeat) this.#unsentMetrics = metrics;
    else if (isRepeated) await this.#sendMetrics();
  }

  /** Sends one message. Returns whether it must be repeated. */
  async #post(
    url: string,
    name: Parameters<typeof encodeProtobuf>[0],
    request: object,
    status: SignalStatus,
    items: number,
  ): Promise<boolean> {
    const { fetch, telemetry, now } = this.#options;
    const isJson = telemetry.protocol === "http/json";
    let answered: number | null = null;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          ...telemetry.headers,
          "content-type": isJson ? "application/json" : "application/x-protobuf",
        },
        body: isJson ? JSON.stringify(request) : encodeProtobuf(name, request),
        // The headers are credentials, which must not reach another host.
        redirect: "manual",
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      answered = response.status;
      await response.body?.cancel();
    } catch {
      answered ??= null;
    }
    if (answered !== null && answered >= 200 && answered < 300) {
      status.sent += items;
      status.last_sent_at = now();
      status.last_error = null;
      return false;
    }
    status.last_error = answered === null ? "unreachable" : `status ${answered}`;
    if (answered === null || RETRYABLE.includes(answered)) return true;
    status.dropped += items;
    return false;
  }
}
