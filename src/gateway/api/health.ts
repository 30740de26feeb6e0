import * as z from "zod";
import { jsonResponse, openEndpoint } from "../../core/routing/endpoint.ts";

/** `GET /healthz` (docs/contract.md, general rule 3). */
export const healthz = openEndpoint({
  method: "GET",
  path: "/healthz",
  summary: "Liveness probe",
  answers: jsonResponse(() => z.object({ status: z.literal("ok") })),
  handler: () => Response.json({ status: "ok" }),
});

/** `GET /readyz` (docs/contract.md, general rule 3). */
export const readyz = openEndpoint({
  method: "GET",
  path: "/readyz",
  summary: "Readiness probe",
  answers: jsonResponse(() => z.object({ status: z.literal("ready") })),
  handler: () => Response.json({ status: "ready" }),
});
