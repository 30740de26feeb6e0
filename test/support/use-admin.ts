import type { GatewayOptions } from "./gateway.ts";
import { type TestGateway, useGateway } from "./use-gateway.ts";

/** The admin key of development. */
export const ADMIN_KEY = "admin";

/** A response of the admin API. */
export interface AdminAnswer {
  readonly status: number;
  /** The JSON body; an empty object if there is none. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** A gateway with a client of its admin API. */
export interface TestAdmin extends TestGateway {
  /** Sends one request with the admin key or another credential; null: without credential. */
  admin(method: string, path: string, body?: unknown, credential?: string | null): Promise<AdminAnswer>;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** Starts a gateway before the tests of a file and stops it after them. */
export function useAdmin(options: GatewayOptions | (() => GatewayOptions) = {}): TestAdmin {
  const running = useGateway(options);
  return {
    get gateway() {
      return running.gateway;
    },
    fetch: running.fetch,
    post: running.post,
    chat: running.chat,
    async admin(method, path, body, credential = ADMIN_KEY) {
      const headers: Record<string, string> = {};
      if (credential !== null) headers["authorization"] = `Bearer ${credential}`;
      if (body !== undefined) headers["content-type"] = "application/json";
      const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
      const response = await running.fetch(path, init);
      const text = await response.text();
      const parsed: unknown = text === "" ? {} : JSON.parse(text);
      return { status: response.status, body: isObject(parsed) ? parsed : { value: parsed } };
    },
  };
}
