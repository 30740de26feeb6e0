import * as z from "zod";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import { adminEndpoint, type Endpoint, jsonResponse } from "../../../core/routing/endpoint.ts";
import { getTelemetryStatus } from "../../../records/opentelemetry/index.ts";

/** What became of the messages of one kind. */
const signalSchema = lazyObject(() => ({
  /** The collector's scheme and host. Its path and query may contain credentials. */
  endpoint: z.string(),
  sent: z.int(),
  dropped: z.int(),
  last_sent_at: z.number().nullable(),
  last_error: z.string().nullable(),
}));

const telemetrySchema = lazyObject(() => ({
  /** Null: nothing is sent. */
  protocol: z.enum(["http/protobuf", "http/json"]).nullable(),
  /** Null: not sent. */
  traces: signalSchema.nullable(),
  metrics: signalSchema.nullable(),
}));

export const TELEMETRY_ENDPOINTS = [
  /** `GET /admin/telemetry`: where traces and metrics go, and what this isolate or process has sent. */
  adminEndpoint({
    method: "GET",
    path: "/admin/telemetry",
    summary: "Where OpenTelemetry's traces and metrics go, and what this isolate or process has sent",
    answers: jsonResponse(() => telemetrySchema),
    handler: ({ platform }) => {
      const { telemetry } = platform.variables;
      if (telemetry === null) return Response.json({ protocol: null, traces: null, metrics: null });
      const { tracesUrl, metricsUrl, protocol } = telemetry;
      const status = getTelemetryStatus(platform, telemetry);
      const describe = (url: string | null, signal: keyof typeof status) =>
        url === null ? null : { endpoint: new URL(url).origin, ...status[signal] };
      return Response.json({
        protocol,
        traces: describe(tracesUrl, "traces"),
        metrics: describe(metricsUrl, "metrics"),
      });
    },
  }),
] satisfies readonly Endpoint[];
