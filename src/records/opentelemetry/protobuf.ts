import { isObject } from "../../core/encoding/json.ts";

/** How a field is written: a scalar, a list of packed scalars, or the name of a message in {@link MESSAGES}. */
type FieldType =
  | "string"
  | "hex"
  | "bool"
  | "varint"
  | "double"
  | "fixed32"
  | "fixed64"
  | "packed double"
  | "packed fixed64"
  | { readonly message: string };

type Fields = Readonly<Record<string, readonly [number: number, type: FieldType]>>;

const message = (name: string): FieldType => ({ message: name });

/**
 * The fields of OTLP's messages by their JSON names, in the order of their numbers (opentelemetry-proto 1.x, the files
 * trace.proto, metrics.proto, common.proto and resource.proto).
 */
const MESSAGES: Readonly<Record<string, Fields>> = {
  TraceRequest: { resourceSpans: [1, message("ResourceSpans")] },
  ResourceSpans: { resource: [1, message("Resource")], scopeSpans: [2, message("ScopeSpans")] },
  ScopeSpans: { scope: [1, message("Scope")], spans: [2, message("Span")] },
  Span: {
    traceId: [1, "hex"],
    spanId: [2, "hex"],
    parentSpanId: [4, "hex"],
    name: [5, "string"],
    kind: [6, "varint"],
    startTimeUnixNano: [7, "fixed64"],
    endTimeUnixNano: [8, "fixed64"],
    attributes: [9, message("KeyValue")],
    droppedAttributesCount: [10, "varint"],
    droppedEventsCount: [12, "varint"],
    droppedLinksCount: [14, "varint"],
    status: [15, message("Status")],
    flags: [16, "fixed32"],
  },
  Status: { code: [3, "varint"] },
  MetricsRequest: { resourceMetrics: [1, message("ResourceMetrics")] },
  ResourceMetrics: { resource: [1, message("Resource")], scopeMetrics: [2, message("ScopeMetrics")] },
  ScopeMetrics: { scope: [1, message("Scope")], metrics: [2, message("Metric")] },
  Metric: {
    name: [1, "string"],
    description: [2, "string"],
    unit: [3, "string"],
    histogram: [9, message("Histogram")],
  },
  Histogram: { dataPoints: [1, message("HistogramPoint")], aggregationTemporality: [2, "varint"] },
  HistogramPoint: {
    startTimeUnixNano: [2, "fixed64"],
    timeUnixNano: [3, "fixed64"],
    count: [4, "fixed64"],
    sum: [5, "double"],
    bucketCounts: [6, "packed fixed64"],
    explicitBounds: [7, "packed double"],
    attributes: [9, message("KeyValue")],
  },
  Resource: { attributes: [1, message("KeyValue")], droppedAttributesCount: [2, "varint"] },
  Scope: { name: [1, "string"], version: [2, "string"] },
  KeyValue: { key: [1, "string"], value: [2, message("AnyValue")] },
  AnyValue: {
    stringValue: [1, "string"],
    boolValue: [2, "bool"],
    intValue: [3, "varint"],
    doubleValue: [4, "double"],
    arrayValue: [5, message("ArrayValue")],
  },
  ArrayValue: { values: [1, message("AnyValue")] },
};

/** The kinds of encodings in a field's tag. */
const WIRE_VARINT = 0;
const WIRE_64_BIT = 1;
const WIRE_LENGTH = 2;
const WIRE_32_BIT = 5;

const encoder = new TextEncoder();

function writeVarint(out: number[], value: number | bigint): void {
  // Negative numbers have the 64 bits of their two's complement.
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 0x7fn) {
    out.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  out.push(Number(rest));
}

function writeTag(out: number[], field: number, wireType: number): void {
  writeVarint(out, field * 8 + wireType);
}

function writeBytes(
  out: number[],
  field: number,
  bytes: Iterable<number> & { readonly length: number },
): void {
  writeTag(out, field, WIRE_LENGTH);
  writeVarint(out, bytes.length);
  for (const byte of bytes) out.push(byte);
}

/** The eight bytes of a number, least significant first. */
function toEightBytes(value: unknown, isDouble: boolean): Uint8Array {
  const view = new DataView(new ArrayBuffer(8));
  if (isDouble) view.setFloat64(0, Number(value), true);
  else view.setBigUint64(0, BigInt(String(value)), true);
  return new Uint8Array(view.buffer);
}

function fromHex(text: string): number[] {
  return Array.from({ length: text.length / 2 }, (_, index) =>
    Number.parseInt(text.slice(index * 2, index * 2 + 2), 16),
  );
}

function writeField(out: number[], field: number, type: FieldType, value: unknown): void {
  if (typeof type === "object") {
    for (const item of Array.isArray(value) ? value : [value]) {
      writeBytes(out, field, encodeFields(type.message, item));
    }
    return;
  }
  switch (type) {
    case "string":
      writeBytes(out, field, encoder.encode(String(value)));
      return;
    case "hex":
      writeBytes(out, field, fromHex(String(value)));
      return;
    case "bool":
    case "varint":
      writeTag(out, field, WIRE_VARINT);
      writeVarint(out, Math.trunc(Number(value)));
      return;
    case "fixed32":
      writeTag(out, field, WIRE_32_BIT);
      for (const byte of toEightBytes(value, false).slice(0, 4)) out.push(byte);
      return;
    case "double":
    case "fixed64":
      writeTag(out, field, WIRE_64_BIT);
      for (const byte of toEightBytes(value, type === "double")) out.push(byte);
      return;
    default: {
      const items: readonly unknown[] = Array.isArray(value) ? value : [];
      writeBytes(
        out,
        field,
        items.flatMap((item) => [...toEightBytes(item, type === "packed double")]),
      );
    }
  }
}

function encodeFields(name: string, value: unknown): number[] {
  const out: number[] = [];
  if (!isObject(value)) return out;
  for (const [field, [number, type]] of Object.entries(MESSAGES[name] ?? {})) {
    const content = value[field];
    if (content !== undefined) writeField(out, number, type, content);
  }
  return out;
}

/** Encodes a message of OTLP, given in its JSON form, as protocol buffers. */
export function encodeProtobuf(
  name: "TraceRequest" | "MetricsRequest",
  value: object,
): Uint8Array<ArrayBuffer> {
  return new Uint8Array(encodeFields(name, value));
}
