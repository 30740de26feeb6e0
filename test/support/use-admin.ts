import type { GatewayOptions } from "./gateway.ts";
import { type TestGateway, useGateway } from "./use-gateway.ts";

/** The admin key of development. */
export const ADMIN_KEY = "admin";

/** An answer of the admin API. */
export interface AdminAnswer {
  readonly status: number;
  /** The JSON body; an empty object when there is none. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** A gateway together with its administrator. */
export interface TestAdmin extends TestGateway {
  /** One request with the admin key, or with another credential; null: with none. */
  admin(method: string, path: string, body?: unknown, credential?: string | null): Promise<AdminAnswer>;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** Starts a gateway before the tests of a file and stops it after them. */
export function useAdmin(options: GatewayOptions = {}): TestAdmin {
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
