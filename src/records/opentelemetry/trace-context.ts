import { toHex } from "../../core/encoding/bytes.ts";
import type { TelemetryVariables } from "../../core/variables/telemetry-variables.ts";

/** Where a request belongs: the trace, and the span of the client that sent it. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** The client's span, 16 hexadecimal digits; empty: the client has none. */
  readonly parentSpanId: string;
  /** Whether the trace is recorded. */
  readonly isSampled: boolean;
}

/** W3C Trace Context, section 3.2: later versions may add further fields. */
const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const ONLY_ZEROS = /^0+$/;
const SAMPLED_FLAG = 1;

/** Creates a random id of `bytes` bytes, in hexadecimal. */
function createId(bytes: number): string {
  return toHex(crypto.getRandomValues(new Uint8Array(bytes)));
}

export const createSpanId = () => createId(8);

/** Reads the header `traceparent`. Without a valid one, the request begins a trace. */
export function readTraceContext(
  header: string | null,
  { followsCallersSampling }: Pick<TelemetryVariables, "followsCallersSampling">,
): TraceContext {
  const [, version = "", traceId = "", parentSpanId = "", flags = "", rest] =
    TRACEPARENT.exec(header?.trim() ?? "") ?? [];
  const isValid =
    traceId !== "" &&
    version !== "ff" &&
    !(version === "00" && rest !== undefined) &&
    !ONLY_ZEROS.test(traceId) &&
    !ONLY_ZEROS.test(parentSpanId);
  if (!isValid) return { traceId: createId(16), parentSpanId: "", isSampled: true };
  const isSampledByCaller = (Number.parseInt(flags, 16) & SAMPLED_FLAG) !== 0;
  return { traceId, parentSpanId, isSampled: isSampledByCaller || !followsCallersSampling };
}

/** Formats the header `traceparent` for requests that a span sends. */
export function formatTraceparent({ traceId, isSampled }: TraceContext, spanId: string): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}
