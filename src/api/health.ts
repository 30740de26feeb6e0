import * as z from "zod";
import { json, open } from "../routing/endpoint.ts";

/** `GET /healthz` (contract, general rule 3). */
export const healthz = open({
  method: "GET",
  path: "/healthz",
  summary: "Liveness probe",
  answers: json(() => z.object({ status: z.literal("ok") })),
  handler: () => Response.json({ status: "ok" }),
});

/** `GET /readyz` (contract, general rule 3). */
export const readyz = open({
  method: "GET",
  path: "/readyz",
  summary: "Readiness probe",
  answers: json(() => z.object({ status: z.literal("ready") })),
  handler: () => Response.json({ status: "ready" }),
});
