import {
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from "@opentelemetry/otlp-transformer";
import { expect, it } from "vitest";
import { MetricBuffer } from "../../../../src/records/opentelemetry/metric-buffer.ts";
import {
  type Attributes,
  createFlags,
  createMetricsRequest,
  createTraceRequest,
  NOTHING_DROPPED,
  type Sender,
  SPAN_KIND,
  STATUS_ERROR,
  toKeyValues,
} from "../../../../src/records/opentelemetry/otlp.ts";
import { encodeProtobuf } from "../../../../src/records/opentelemetry/protobuf.ts";

const sender: Sender = {
  resource: { "service.name": "polygate", "deployment.environment.name": "tést" },
  scope: { name: "polygate", version: "3.2.0" },
};
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const PARENT = "00f067aa0ba902b7";
const attributes: Attributes = {
  "gen_ai.request.model": "größe-1",
  "gen_ai.usage.input_tokens": 3_000_000_000,
  "gen_ai.request.stream": true,
  "gen_ai.response.time_to_first_chunk": 0.25,
  "gen_ai.response.finish_reasons": ["stop", "length"],
  negative: -7,
};

/** The same span, as OpenTelemetry's own SDK describes it. */
const ofSdk = {
  name: "chat größe-1",
  kind: 2,
  spanContext: () => ({ traceId: TRACE, spanId: SPAN, traceFlags: 1 }),
  parentSpanContext: { traceId: TRACE, spanId: PARENT, traceFlags: 1 },
  startTime: [1_700_000_000, 5_000_000] satisfies [number, number],
  endTime: [1_700_000_001, 0] satisfies [number, number],
  duration: [0, 995_000_000] satisfies [number, number],
  status: { code: 2 },
  attributes: {
    ...attributes,
    "gen_ai.response.finish_reasons": ["stop", "length"],
  },
  links: [],
  events: [],
  ended: true,
  resource: { attributes: sender.resource, merge: () => ofSdk.resource, getRawAttributes: () => [] },
  instrumentationScope: sender.scope,
  droppedAttributesCount: 0,
  droppedEventsCount: 0,
  droppedLinksCount: 0,
};

const traceRequest = createTraceRequest(sender, [
  {
    traceId: TRACE,
    spanId: SPAN,
    parentSpanId: PARENT,
    name: "chat größe-1",
    kind: SPAN_KIND.client,
    startTimeUnixNano: "1700000000005000000",
    endTimeUnixNano: "1700000001000000000",
    attributes: toKeyValues(attributes),
    ...NOTHING_DROPPED,
    flags: createFlags(false),
    status: { code: STATUS_ERROR },
  },
]);

function observed() {
  let now = 1_700_000_000_000;
  const buffer = new MetricBuffer(() => now);
  const instrument = {
    name: "gen_ai.client.operation.duration",
    description: "d",
    unit: "s",
    bounds: [1, 2],
  };
  for (const value of [0.5, 2, 9.25]) buffer.observe(instrument, value, { "error.type": "timeout" });
  now += 1_000;
  return createMetricsRequest(sender, buffer.take());
}

/** The same metric, as OpenTelemetry's own SDK describes it. */
const metricsOfSdk = {
  resource: ofSdk.resource,
  scopeMetrics: [
    {
      scope: sender.scope,
      metrics: [
        {
          descriptor: { name: "gen_ai.client.operation.duration", description: "d", unit: "s", valueType: 1 },
          aggregationTemporality: 0,
          dataPointType: 0 as const,
          dataPoints: [
            {
              startTime: [1_700_000_000, 0] satisfies [number, number],
              endTime: [1_700_000_001, 0] satisfies [number, number],
              attributes: { "error.type": "timeout" },
              value: { count: 3, sum: 11.75, buckets: { boundaries: [1, 2], counts: [1, 1, 1] } },
            },
          ],
        },
      ],
    },
  ],
};

const parse = (bytes: Uint8Array | undefined): unknown => JSON.parse(new TextDecoder().decode(bytes));
const hex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString("hex");

it("encodes spans byte for byte as OpenTelemetry's own exporter", () => {
  expect(hex(encodeProtobuf("TraceRequest", traceRequest))).toBe(
    hex(ProtobufTraceSerializer.serializeRequest([ofSdk])),
  );
});

it("writes spans as JSON with the members of OpenTelemetry's own exporter", () => {
  expect(parse(JsonTraceSerializer.serializeRequest([ofSdk]))).toMatchObject(traceRequest);
});

it("encodes histograms byte for byte as OpenTelemetry's own exporter", () => {
  expect(hex(encodeProtobuf("MetricsRequest", observed()))).toBe(
    hex(ProtobufMetricsSerializer.serializeRequest(metricsOfSdk)),
  );
});

it("writes histograms as JSON with the members of OpenTelemetry's own exporter", () => {
  expect(parse(JsonMetricsSerializer.serializeRequest(metricsOfSdk))).toEqual(observed());
});
