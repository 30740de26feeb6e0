import { describe, expect, it } from "vitest";
import type { TelemetryVariables } from "../../../../src/core/variables/telemetry-variables.ts";
import { Exporter, MAX_WAITING_SPANS } from "../../../../src/records/opentelemetry/exporter.ts";
import { MetricBuffer } from "../../../../src/records/opentelemetry/metric-buffer.ts";
import {
  createFlags,
  NOTHING_DROPPED,
  SPAN_KIND,
  type Span,
} from "../../../../src/records/opentelemetry/otlp.ts";
import { formatTraceparent, readTraceContext } from "../../../../src/records/opentelemetry/trace-context.ts";

const telemetry: TelemetryVariables = {
  tracesUrl: "http://collector/v1/traces",
  metricsUrl: "http://collector/v1/metrics",
  protocol: "http/json",
  headers: {},
  serviceName: "polygate",
  resourceAttributes: {},
  followsCallersSampling: false,
  delayMs: 5_000,
};
const span: Span = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  name: "chat m",
  kind: SPAN_KIND.client,
  startTimeUnixNano: "1",
  endTimeUnixNano: "2",
  attributes: [],
  ...NOTHING_DROPPED,
  flags: createFlags(false),
  status: { code: 0 },
};
const spans = (count: number) => Array.from({ length: count }, () => span);
const instrument = { name: "n", description: "d", unit: "s", bounds: [1] };

/** An exporter whose collector answers with the given statuses, the last one ever after; 0: it cannot be reached. */
function createExporter(statuses: readonly number[], changes: Partial<TelemetryVariables> = {}) {
  let now = 0;
  const sent: string[] = [];
  const exporter = new Exporter({
    telemetry: { ...telemetry, ...changes },
    sender: { resource: {}, scope: { name: "polygate", version: "1" } },
    fetch: async (url) => {
      const status = statuses[Math.min(sent.length, statuses.length - 1)] ?? 200;
      sent.push(url);
      if (status === 0) throw new TypeError("not reached");
      return new Response(null, { status });
    },
    now: () => now,
    sleep: async (milliseconds) => {
      now += milliseconds;
    },
  });
  return { exporter, sent };
}

describe("the exporter", () => {
  it("sends the spans of many requests in one message", async () => {
    const { exporter, sent } = createExporter([200]);
    exporter.add(spans(2));
    const waiting = exporter.waitUntilSent();
    exporter.add(spans(3));
    await Promise.all([waiting, exporter.waitUntilSent()]);
    expect(sent).toEqual([telemetry.tracesUrl]);
    expect(exporter.traceStatus).toMatchObject({ sent: 5, dropped: 0, last_error: null });
  });

  it.each([0, 429, 502, 503, 504])("repeats a message after status %i (0: no connection)", async (status) => {
    const { exporter } = createExporter([status, 200]);
    exporter.add(spans(1));
    await exporter.waitUntilSent();
    expect(exporter.traceStatus).toMatchObject({ sent: 1, dropped: 0, last_error: null });
  });

  it.each([301, 400, 401, 500])("drops a message after status %i", async (status) => {
    const { exporter, sent } = createExporter([status]);
    exporter.add(spans(1));
    await exporter.waitUntilSent();
    expect(sent).toHaveLength(1);
    expect(exporter.traceStatus).toMatchObject({ sent: 0, dropped: 1, last_error: `status ${status}` });
  });

  it("stops repeating a message after some attempts, and sends it with a later request", async () => {
    const { exporter, sent } = createExporter([503, 503, 503, 503, 503, 503, 503, 200]);
    exporter.add(spans(1));
    await exporter.waitUntilSent();
    expect(exporter.traceStatus.sent).toBe(0);
    expect(sent.length).toBeLessThan(7);
    while (exporter.traceStatus.sent === 0) await exporter.waitUntilSent();
    expect(exporter.traceStatus).toMatchObject({ sent: 1, dropped: 0 });
  });

  it("keeps a limited number of waiting spans, and counts dropped ones", async () => {
    const { exporter } = createExporter([200]);
    exporter.add(spans(MAX_WAITING_SPANS + 7));
    await exporter.waitUntilSent();
    expect(exporter.traceStatus).toMatchObject({ sent: MAX_WAITING_SPANS, dropped: 7 });
  });

  it("repeats metrics, too, and keeps those that arrive meanwhile", async () => {
    const { exporter } = createExporter([503, 200], { tracesUrl: null });
    exporter.metrics.observe(instrument, 1, {});
    const waiting = exporter.waitUntilSent();
    await waiting;
    exporter.metrics.observe(instrument, 1, {});
    await exporter.waitUntilSent();
    expect(exporter.metricStatus).toMatchObject({ sent: 2, dropped: 0 });
  });
});

describe("metrics", () => {
  it("have a limited number of series, of which the last one contains all further values", () => {
    const buffer = new MetricBuffer(() => 0);
    for (let index = 0; index < 5_000; index += 1) buffer.observe(instrument, index, { model: `m${index}` });
    const points = buffer.take()[0]?.histogram.dataPoints ?? [];
    expect(points).toHaveLength(2_001);
    expect(points.reduce((sum, { count }) => sum + count, 0)).toBe(5_000);
    expect(buffer.isEmpty).toBe(true);
  });
});

describe("traceparent", () => {
  // Examples of W3C Trace Context, sections 2.2.1.2, 2.2.5 and 3.
  const id = "4bf92f3577b34da6a3ce929d0e0e4736";
  const parent = "00f067aa0ba902b7";
  it.each([
    [`00-${id}-${parent}-01`, true],
    [`00-${id}-${parent}-00`, false],
    [`cc-${id}-${parent}-01-what-the-future-will-be-like`, true],
  ])(
    "%s continues the client's trace, and its sampling is followed only if callers are trusted",
    (header, flag) => {
      for (const followsCallersSampling of [true, false]) {
        const isSampled = flag || !followsCallersSampling;
        const context = readTraceContext(header, { followsCallersSampling });
        expect(context).toEqual({ traceId: id, parentSpanId: parent, isSampled });
        expect(formatTraceparent(context, parent)).toBe(`00-${id}-${parent}-${isSampled ? "01" : "00"}`);
      }
    },
  );
  it.each([
    null,
    "",
    `ff-${id}-${parent}-01`,
    `00-${"0".repeat(32)}-${parent}-01`,
    `00-${id}-${"0".repeat(16)}-01`,
    `00-${id.toUpperCase()}-${parent}-01`,
    `00-${id}-${parent}-01-more`,
    `00-${id}-${parent}`,
  ])("%j begins a new trace", (header) => {
    const { traceId, parentSpanId, isSampled } = readTraceContext(header, { followsCallersSampling: true });
    expect(traceId).toMatch(/^[\da-f]{32}$/);
    expect(traceId).not.toBe(id);
    expect(parentSpanId).toBe("");
    expect(isSampled).toBe(true);
  });
});
