import type { Handler } from "../platform/context.ts";

/** `GET /healthz` (contract, general rule 3). */
export const healthz: Handler = () => Response.json({ status: "ok" });

/** `GET /readyz` (contract, general rule 3). */
export const readyz: Handler = () => Response.json({ status: "ready" });
