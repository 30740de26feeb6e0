import {
  baseUrl,
  booleanFlag,
  httpUrl,
  milliseconds,
  oneOf,
  pairs,
  type VariableParser,
} from "./variable-parsers.ts";

/** The encodings of OTLP over HTTP that the gateway can send. */
const OTLP_PROTOCOLS = ["http/protobuf", "http/json"] as const;
export type OtlpProtocol = (typeof OTLP_PROTOCOLS)[number];

/** The samplers of OpenTelemetry that the gateway has. */
const TRACE_SAMPLERS = ["always_on", "parentbased_always_on"] as const;

/** Where and how traces and metrics are sent. The names of the variables are OpenTelemetry's. */
export interface TelemetryVariables {
  /** `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, or `OTEL_EXPORTER_OTLP_ENDPOINT` with `/v1/traces`; null: no traces. */
  readonly tracesUrl: string | null;
  /** `OTEL_EXPORTER_OTLP_METRICS_ENDPOINT`, or `OTEL_EXPORTER_OTLP_ENDPOINT` with `/v1/metrics`; null: no metrics. */
  readonly metricsUrl: string | null;
  /** `OTEL_EXPORTER_OTLP_PROTOCOL`, `http/protobuf`. */
  readonly protocol: OtlpProtocol;
  /** `OTEL_EXPORTER_OTLP_HEADERS`, none: `name=value` pairs. They are credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** `OTEL_SERVICE_NAME`, `polygate`. */
  readonly serviceName: string;
  /** `OTEL_RESOURCE_ATTRIBUTES`, none: `name=value` pairs. */
  readonly resourceAttributes: Readonly<Record<string, string>>;
  /**
   * `OTEL_TRACES_SAMPLER`, `always_on`: whether the flag of a caller's `traceparent` decides if the trace is sent. Only
   * callers that are trusted may decide.
   */
  readonly followsCallersSampling: boolean;
  /** `OTEL_BSP_SCHEDULE_DELAY`, 5,000 ms: how long spans and metrics wait for more of them. */
  readonly delayMs: number;
}

/** Reads one variable; `defaultValue` if it is not set. */
type ReadVariable = <T, Unset>(name: string, parse: VariableParser<T>, defaultValue: Unset) => T | Unset;

/** Requests wait for their batch, and Workers end them half a minute after the answer. */
const MAX_DELAY_MS = 20_000;

const serviceNameText: VariableParser<string> = (text) => text;

/** Reads the variables of OpenTelemetry. Null: nothing is sent. */
export function readTelemetryVariables(read: ReadVariable): TelemetryVariables | null {
  const isDisabled = read("OTEL_SDK_DISABLED", booleanFlag, false);
  const endpoint = read("OTEL_EXPORTER_OTLP_ENDPOINT", baseUrl, null);
  const readUrl = (signal: "traces" | "metrics") => {
    const name = signal.toUpperCase();
    const exporter = read(`OTEL_${name}_EXPORTER`, oneOf(["otlp", "none"]), "otlp");
    const common = endpoint === null ? null : `${endpoint}/v1/${signal}`;
    const url = read(`OTEL_EXPORTER_OTLP_${name}_ENDPOINT`, httpUrl, common);
    return exporter === "none" ? null : url;
  };
  const telemetry = {
    tracesUrl: readUrl("traces"),
    metricsUrl: readUrl("metrics"),
    protocol: read("OTEL_EXPORTER_OTLP_PROTOCOL", oneOf(OTLP_PROTOCOLS), OTLP_PROTOCOLS[0]),
    headers: read("OTEL_EXPORTER_OTLP_HEADERS", pairs(true), {}),
    serviceName: read("OTEL_SERVICE_NAME", serviceNameText, "polygate"),
    resourceAttributes: read("OTEL_RESOURCE_ATTRIBUTES", pairs(false), {}),
    followsCallersSampling:
      read("OTEL_TRACES_SAMPLER", oneOf(TRACE_SAMPLERS), "always_on") === "parentbased_always_on",
    delayMs: read("OTEL_BSP_SCHEDULE_DELAY", milliseconds(MAX_DELAY_MS), 5_000),
  };
  return isDisabled || (telemetry.tracesUrl === null && telemetry.metricsUrl === null) ? null : telemetry;
}
