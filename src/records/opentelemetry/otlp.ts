/*
 * The messages of the OpenTelemetry Protocol (OTLP 1.x) that the gateway sends, in their JSON form. `protobuf.ts` writes the
 * same messages in binary form.
 */

/** The values of attributes that the gateway sends. */
export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Readonly<Record<string, AttributeValue>>;

type AnyValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: number }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly AnyValue[] } };

/** One attribute. */
export interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

export const SPAN_KIND = { server: 2, client: 3 } as const;
export const STATUS_UNSET = 0;
export const STATUS_ERROR = 2;
/** The values of a metric are increments since the last message. */
const DELTA_TEMPORALITY = 1;

/** One operation. Ids are hexadecimal, times are nanoseconds since 1970. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: (typeof SPAN_KIND)[keyof typeof SPAN_KIND];
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly droppedAttributesCount: 0;
  readonly droppedEventsCount: 0;
  readonly status: { readonly code: number };
  readonly droppedLinksCount: 0;
  readonly flags: number;
}

/** The gateway omits nothing from its spans. */
export const NOTHING_DROPPED = {
  droppedAttributesCount: 0,
  droppedEventsCount: 0,
  droppedLinksCount: 0,
} as const;

/** Bits of `flags`: the trace is recorded; the next bit is known; the parent is in another process. */
const SAMPLED_FLAG = 0x1;
const KNOWS_REMOTE_FLAG = 0x100;
const REMOTE_FLAG = 0x200;

/** The flags of a recorded span. */
export function createFlags(isParentRemote: boolean): number {
  return SAMPLED_FLAG | KNOWS_REMOTE_FLAG | (isParentRemote ? REMOTE_FLAG : 0);
}

/** The observations of a histogram with the same attributes. */
export interface HistogramPoint {
  readonly attributes: readonly KeyValue[];
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
  readonly count: number;
  readonly sum: number;
  readonly bucketCounts: readonly number[];
  readonly explicitBounds: readonly number[];
}

/** A metric whose data points are histograms. */
export interface Metric {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly histogram: {
    readonly dataPoints: readonly HistogramPoint[];
    readonly aggregationTemporality: number;
  };
}

/** The program that sends, and the version of its messages. */
export interface Sender {
  readonly resource: Attributes;
  readonly scope: { readonly name: string; readonly version: string };
}

function toAnyValue(value: AttributeValue): AnyValue {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number")
    return Number.isInteger(value) ? { intValue: value } : { doubleValue: value };
  return { arrayValue: { values: value.map((text) => ({ stringValue: text })) } };
}

export function toKeyValues(attributes: Attributes): KeyValue[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: toAnyValue(value) }));
}

/** Formats Unix milliseconds as nanoseconds. */
export function toNanoseconds(milliseconds: number): string {
  return `${Math.max(0, Math.round(milliseconds))}000000`;
}

const createResource = ({ resource }: Sender) => ({
  attributes: toKeyValues(resource),
  droppedAttributesCount: 0,
});

/** The message that delivers spans. */
export function createTraceRequest(sender: Sender, spans: readonly Span[]) {
  const { scope } = sender;
  return { resourceSpans: [{ resource: createResource(sender), scopeSpans: [{ scope, spans }] }] };
}

/** The message that delivers metrics. */
export function createMetricsRequest(sender: Sender, metrics: readonly Metric[]) {
  const { scope } = sender;
  return { resourceMetrics: [{ resource: createResource(sender), scopeMetrics: [{ scope, metrics }] }] };
}

/** A histogram whose points are increments. */
export function createHistogram(
  { name, description, unit }: Pick<Metric, "name" | "description" | "unit">,
  dataPoints: readonly HistogramPoint[],
): Metric {
  return { name, description, unit, histogram: { dataPoints, aggregationTemporality: DELTA_TEMPORALITY } };
}
