import { describe, expect, it } from "vitest";
import { DIALECT_CLIENTS } from "../support/dialect-clients.ts";
import { DIALECT_CONVERSATIONS } from "../support/dialect-conversations.ts";
import { DEV_KEY, type TestGateway, useGateway } from "../support/use-gateway.ts";

/**
 * The provider of the first gateway is a second gateway, in the style of a driver; its provider is the sandbox. Unit tests
 * check what each driver sends. This test sends one request of each kind over real connections.
 */

function config(accounts: readonly object[]): Record<string, string> {
  const settings = { keys: [DEV_KEY], accounts, thinking_injection: { enabled: false } };
  return { GATEWAY_CONFIG_JSON: JSON.stringify(settings) };
}

const behind = useGateway({ vars: config([{ email: "one@sandbox.test", password: "sandbox" }]) });

/** Drivers that speak a style of ours, and where it begins. */
const BACKENDS = [
  { driver: "openai-responses", base: "/v1" },
  { driver: "gemini", base: "" },
] as const;

const [chat] = DIALECT_CLIENTS;
if (chat === undefined) throw new Error("there is no dialect");

async function ask(api: TestGateway, conversation: (typeof DIALECT_CONVERSATIONS)[string], stream: boolean) {
  const response = await chat?.send(api, conversation, stream);
  const text = (await response?.text()) ?? "";
  expect(response?.status, text).toBe(200);
  return stream ? chat?.streamed(text) : chat?.whole(JSON.parse(text));
}

describe.each(BACKENDS)("a backend of the driver $driver", ({ driver, base }) => {
  const front = useGateway(() => ({
    vars: {
      ...config([{ token: DEV_KEY }]),
      PROVIDER_DRIVER: driver,
      PROVIDER_BASE_URL: behind.gateway.url + base,
    },
  }));

  it.each([
    "a question",
    "two calls of the same tool",
    "results of two calls",
    "an answer withheld",
    "a call cut short behind two",
  ])("gives the same result as without: %s", async (name) => {
    const conversation = DIALECT_CONVERSATIONS[name] ?? { steps: [] };
    for (const stream of [true, false]) {
      const direct = await ask(behind, conversation, stream);
      const { prompt } = await behind.gateway.sandbox.lastTurn();
      const through = await ask(front, conversation, stream);
      expect((await behind.gateway.sandbox.lastTurn()).prompt).toBe(prompt);
      expect(through).toMatchObject({ ...direct, usage: expect.anything() });
    }
  });

  it("refuses an unknown key, and fails, as the backend does", async () => {
    const refused = await front.chat("x", {}, { authorization: "Bearer sandbox-token-expired" });
    expect([refused.status, JSON.parse(await refused.text()).error.code]).toEqual([401, "invalid_api_key"]);
    const conversation = { steps: [{ user: "[[big:400]][[chunk:20]][[cut:6]]" }] };
    const broken = await chat.send(front, conversation, true);
    expect(chat.streamed(await broken.text())).toMatchObject({ error: expect.any(String), finish: null });
    expect((await chat.send(front, conversation, false)).status).toBe(503);
  });
});
