import { afterAll, beforeAll } from "vitest";
import { type Gateway, type GatewayOptions, startGateway } from "./gateway.ts";

/** A gateway for the tests of one file. `post` sends JSON with the development key by default. */
export interface TestGateway {
  readonly gateway: Gateway;
  fetch(path: string, init?: RequestInit): Promise<Response>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Requests one chat completion with the user message `text`. */
  chat(text: string, extra?: Record<string, unknown>, headers?: Record<string, string>): Promise<Response>;
}

/** The first key of a development configuration. */
export const DEV_KEY = "sk-dev";

/**
 * Starts a gateway before the tests of a file and stops it after them. Options as a function may use what was started
 * before.
 */
export function useGateway(options: GatewayOptions | (() => GatewayOptions) = {}): TestGateway {
  let running: Gateway | undefined;
  beforeAll(async () => {
    running = await startGateway(typeof options === "function" ? options() : options);
  });
  afterAll(async () => {
    await running?.close();
  });
  const started = (): Gateway => {
    if (running === undefined) throw new Error("the gateway is not running");
    return running;
  };
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    started().fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${DEV_KEY}`, ...headers },
      body: JSON.stringify(body),
    });
  return {
    get gateway() {
      return started();
    },
    fetch: (path, init) => started().fetch(path, init),
    post,
    chat: (text, extra = {}, headers = {}) =>
      post(
        "/v1/chat/completions",
        { model: "provider-v4-flash", messages: [{ role: "user", content: text }], ...extra },
        headers,
      ),
  };
}
