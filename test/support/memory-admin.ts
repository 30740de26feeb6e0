import type { JsonObject } from "../../src/core/encoding/json.ts";
import type { MemoryGateway } from "./memory-gateway.ts";

/** The administrator's key of gateways with these variables. */
export const ADMIN_ENV = { ADMIN_KEY: "admin" } as const;

/** The answer of an admin endpoint. */
export interface AdminAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: JsonObject;
}

/** Calls an admin endpoint of a gateway with {@link ADMIN_ENV}. */
export async function callAdmin(
  gateway: Pick<MemoryGateway, "request">,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<AdminAnswer> {
  const response = await gateway.request(`/admin${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_ENV.ADMIN_KEY}`, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
}
