import { beforeEach, describe, expect, type MockInstance, test, vi } from "vitest";
import { authenticateCaller } from "../../../../src/core/auth/callers.ts";
import { type MemoryGateway, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { KEY } from "../../../support/memory-platform.ts";

const createGateway = useMemoryGateway();

/** An engine behind a driver whose accounts are API keys. */
const ENGINE = { PROVIDER_DRIVER: "openai", PROVIDER_BASE_URL: "http://ollama.test:11434/v1" };
const HOSTED = { ...ENGINE, PROVIDER_BASE_URL: "https://api.openai.test/v1" };

/** An account that signs in where the driver lets it; drivers of API keys never use its password. */
const login = { email: "one@test", password: "secret" };
const keyed = (token: string) => ({ email: "one@test", token });

/** What a request with a key becomes: the caller's mode, or the message of its 401. */
async function outcome(gateway: MemoryGateway, key = "any-key"): Promise<string> {
  const { platform, config, lookUpConfig } = gateway.context();
  const request = new Request("http://gateway.test/", { headers: { authorization: `Bearer ${key}` } });
  const context = { platform, config, lookUpConfig, request, url: new URL(request.url) };
  return authenticateCaller(context, [{ in: "bearer" }]).then(
    ({ mode }) => mode,
    (error: Error) => error.message,
  );
}

describe("an unknown key without the setting", () => {
  test.each([
    ["no account has a token", ENGINE, [login, { email: "two@test" }]],
    ["the tokens of all accounts are placeholders", ENGINE, [keyed("none"), keyed("NONE"), keyed("")]],
    ["PROVIDER_TOKEN is a placeholder", { ...ENGINE, PROVIDER_TOKEN: "none" }, [login]],
    ["the address is a hosted one, but no account has a token", HOSTED, [login]],
    ["only an account of another provider has a token", ENGINE, [login, { ...keyed("k"), provider: "b" }]],
    ["an engine in the own network has no accounts", ENGINE, []],
  ])("is refused if %s", async (_, env, accounts) => {
    const gateway = await createGateway({ env, config: { keys: [KEY], accounts } });
    expect(await outcome(gateway)).toMatch(
      /^this API key is not known: use an API key of this gateway\..+callers\.unknown_keys/,
    );
    expect(await outcome(gateway, KEY)).toBe("managed");
  });

  test.each([
    ["the driver signs accounts in", {}, [login]],
    ["the driver signs accounts in, and there are none", {}, []],
    ["an account has a token", ENGINE, [login, keyed("sk-real")]],
    ["PROVIDER_TOKEN is set", { ...ENGINE, PROVIDER_TOKEN: "sk-real" }, [login]],
    ["a hosted API has no accounts, only callers with their own tokens", HOSTED, []],
  ])("goes to the provider if %s", async (_, env, accounts) => {
    const gateway = await createGateway({ env, config: { keys: [KEY], accounts } });
    expect(await outcome(gateway)).toBe("own-token");
  });

  test("is refused in the error format of each route family", async () => {
    const gateway = await createGateway({ env: ENGINE });
    const status = async (path: string, method = "GET") => {
      const headers = { authorization: "Bearer any-key" };
      const answer = await gateway.request(path, { method, headers });
      return [answer.status, await answer.json()];
    };
    const standard = { error: { code: "invalid_api_key", type: "authentication_error" } };
    for (const path of ["/v1/files", "/v1/files/file-1"]) {
      expect(await status(path)).toEqual([
        401,
        expect.objectContaining({ error: expect.objectContaining(standard.error) }),
      ]);
    }
    for (const path of ["/v1/embeddings", "/v1/responses", "/v1/chat/completions"]) {
      expect(await status(path, "POST")).toEqual([
        401,
        expect.objectContaining({ error: expect.objectContaining(standard.error) }),
      ]);
    }
    expect(await status("/anthropic/v1/messages/count_tokens", "POST")).toEqual([
      401,
      expect.objectContaining({
        type: "error",
        error: expect.objectContaining({ type: "authentication_error" }),
      }),
    ]);
    expect(await status("/v1beta/models/m:countTokens", "POST")).toEqual([
      401,
      { error: expect.objectContaining({ code: 401, status: "UNAUTHENTICATED" }) },
    ]);
  });
});

describe("the setting", () => {
  let warn: MockInstance<typeof console.warn>;
  beforeEach(() => {
    warn = vi.spyOn(console, "warn").mockReturnValue();
  });

  const set = (unknown_keys: "auto" | "pass_through" | "refuse", env: Record<string, string>) =>
    createGateway({ env, config: { keys: [KEY], accounts: [login], callers: { unknown_keys } } });

  test.each([
    ["pass_through", ENGINE, "own-token"],
    ["refuse", {}, "this API key is not known"],
    ["auto", {}, "own-token"],
    ["auto", ENGINE, expect.stringContaining("not known")],
  ] as const)("overrides the default that depends on the provider: %s", async (value, env, expected) => {
    expect(await outcome(await set(value, env))).toEqual(expected);
  });

  test("is stored only if an administrator has set it", async () => {
    const env = { ADMIN_KEY: "an-admin-key", ...ENGINE };
    const gateway = await createGateway({ env, config: { keys: [KEY], accounts: [login] } });
    const put = async (callers: object) => {
      const headers = { authorization: "Bearer an-admin-key", "content-type": "application/json" };
      const init = { method: "PUT", headers, body: JSON.stringify({ callers }) };
      const answer = await gateway.request("/admin/settings", init);
      const { config } = await gateway.platform.configuration.readFresh();
      return { answer: await answer.json(), stored: config.callers.unknown_keys };
    };
    const states = {
      unknown_keys_in_force: "refuse",
      unknown_keys_warning: false,
      development_key_warning: false,
    };
    expect(await put({ keys_hashed: false })).toEqual({
      answer: expect.objectContaining({ callers: { unknown_keys: "auto", keys_hashed: false, ...states } }),
      stored: undefined,
    });
    expect(await put({ unknown_keys: "pass_through" })).toEqual({
      answer: expect.objectContaining({
        callers: {
          unknown_keys: "pass_through",
          keys_hashed: false,
          unknown_keys_in_force: "pass_through",
          unknown_keys_warning: true,
          development_key_warning: false,
        },
      }),
      stored: "pass_through",
    });
  });

  test("causes one warning if it opens a provider without a credential", async () => {
    const gateway = await set("pass_through", ENGINE);
    await outcome(gateway);
    await outcome(gateway);
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/^Warning: .+callers\.unknown_keys/)]]);
    for (const [value, env] of [
      ["pass_through", {}],
      ["auto", ENGINE],
      ["refuse", ENGINE],
    ] as const) {
      await outcome(await set(value, env));
    }
    expect(warn).toHaveBeenCalledTimes(1);
  });
});
