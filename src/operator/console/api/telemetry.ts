import { callApi } from "./client.ts";
import type { AnswerOf } from "./endpoints.ts";

/** Where traces and metrics go, and what became of them. */
export type TelemetryStatus = AnswerOf<"GET /admin/telemetry">;

export const readTelemetry = (signal?: AbortSignal) => callApi("GET /admin/telemetry", { signal });
