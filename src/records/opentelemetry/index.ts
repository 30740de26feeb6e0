import { oncePer } from "../../core/encoding/once.ts";
import { sleep } from "../../core/ports/clock.ts";
import type { RequestTrace } from "../../core/ports/context.ts";
import type { Platform } from "../../core/ports/platform.ts";
import type { TelemetryVariables } from "../../core/variables/telemetry-variables.ts";
import { VERSION } from "../../core/version.ts";
import { Exporter, type SignalStatus } from "./exporter.ts";
import { ExportedTrace } from "./request-trace.ts";
import { readTraceContext } from "./trace-context.ts";

type TelemetryPlatform = Pick<Platform, "variables" | "deploymentFetch" | "now">;

/** The exporter of this isolate or process. */
const getExporter = oncePer(
  ({ deploymentFetch, now }: TelemetryPlatform, telemetry: TelemetryVariables): Exporter =>
    new Exporter({
      telemetry,
      sender: {
        resource: {
          ...telemetry.resourceAttributes,
          "service.name": telemetry.serviceName,
          "service.version": VERSION,
          "service.instance.id": crypto.randomUUID(),
        },
        scope: { name: "polygate", version: VERSION },
      },
      fetch: deploymentFetch,
      now: () => now(),
      sleep,
    }),
);

/** Begins the trace of a request, or continues its client's. */
export function startTrace(
  platform: TelemetryPlatform,
  telemetry: TelemetryVariables,
  headers: Headers,
): RequestTrace {
  const options = {
    exporter: getExporter(platform, telemetry),
    sendsTraces: telemetry.tracesUrl !== null,
    sendsMetrics: telemetry.metricsUrl !== null,
    defaultProvider: platform.variables.providerDriver,
  };
  return new ExportedTrace(options, readTraceContext(headers.get("traceparent"), telemetry));
}

/** What this isolate or process has sent. */
export function getTelemetryStatus(
  platform: TelemetryPlatform,
  telemetry: TelemetryVariables,
): { readonly traces: SignalStatus; readonly metrics: SignalStatus } {
  const { traceStatus, metricStatus } = getExporter(platform, telemetry);
  return { traces: { ...traceStatus }, metrics: { ...metricStatus } };
}
