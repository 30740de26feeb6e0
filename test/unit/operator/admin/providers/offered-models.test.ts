import { describe, expect, it } from "vitest";
import { guessBaseAddresses } from "../../../../../src/operator/admin/providers/offered-models.ts";
import { useMemoryGateway } from "../../../../support/memory-gateway.ts";
import { ScriptedUpstream } from "../../../../support/scripted-upstream.ts";

const make = useMemoryGateway();
const administrator = { authorization: "Bearer admin" };
const LIST = { data: [{ id: "llama3.2" }], models: [{ name: "models/llama3.2" }] };

/** A gateway whose engine has its list of models at one path alone, with the drivers' address without it. */
async function gatewayBefore(path: string, driver: string, base: string, elsewhere: object = {}) {
  const upstream = new ScriptedUpstream((asked) =>
    asked.path.split("?")[0] === path
      ? { json: LIST }
      : { status: 404, json: { error: "404 page not found" }, ...elsewhere },
  );
  const gateway = await make({
    upstream,
    env: { ADMIN_KEY: "admin", PROVIDER_DRIVER: "openai", PROVIDER_BASE_URL: base },
    config: { providers: [{ id: "engine", driver, base_url: base, token: "key-of-the-engine" }] },
  });
  const read = async (url: string) => {
    const response = await gateway.request(url, { headers: administrator });
    return { status: response.status, body: Object(await response.json()) };
  };
  return { read, upstream };
}

describe("a provider's list of models that is not where the address says", () => {
  it.each([
    ["openai", "http://engine.test", "/v1/models", "http://engine.test/v1"],
    ["openai", "http://engine.test/api", "/api/v1/models", "http://engine.test/api/v1"],
    ["openai", "http://engine.test", "/elsewhere/models", null],
    ["openai", "http://engine.test/v1/chat/completions", "/v1/models", "http://engine.test/v1"],
    ["openai-responses", "http://engine.test/", "/v1/models", "http://engine.test/v1"],
    ["openai", "http://engine.test", "/api/models", "http://engine.test/api"],
    ["openai", "http://engine.test/v1", "/models", "http://engine.test"],
    ["anthropic", "http://engine.test", "/api/v1/models", "http://engine.test/api"],
    ["gemini", "http://engine.test/v1", "/v1beta/models", "http://engine.test/v1beta"],
  ])("driver %s at %s: the error says which address has it", async (driver, base, path, meant) => {
    const { read, upstream } = await gatewayBefore(path, driver, base);
    const { status, body } = await read("/admin/providers/engine/models");
    expect(status).toBe(404);
    if (meant === null) expect(body.detail).toContain("check base_url and the driver");
    else expect(body.detail).toContain(`base_url should probably be ${meant}`);
    expect(body.detail).toContain("has no list of models (status 404)");
    expect(upstream.asked.length).toBeLessThanOrEqual(6);
    expect(JSON.stringify(body)).not.toContain("key-of-the-engine");
  });

  it("is named for the provider of the variables by its variable", async () => {
    const { read } = await gatewayBefore("/v1/models", "openai", "http://engine.test");
    expect((await read("/admin/provider/models")).body.detail).toContain(
      "PROVIDER_BASE_URL should probably be http://engine.test/v1",
    );
  });

  it("is found, too, where a web page answers at the address", async () => {
    const { read } = await gatewayBefore("/v1/models", "openai", "http://engine.test", { status: 200 });
    expect((await read("/admin/providers/engine/models")).body.detail).toContain("http://engine.test/v1");
  });

  it("is not looked for elsewhere when the provider refuses the key", async () => {
    const { read, upstream } = await gatewayBefore("/none", "openai", "http://engine.test", { status: 401 });
    // Not 401, which would tell the console that the administrator is not signed in.
    expect((await read("/admin/providers/engine/models")).status).toBe(502);
    expect(new Set(upstream.asked.map(({ path }) => path))).toEqual(new Set(["/models"]));
  });
});

it("guesses at most five addresses, and never the one that failed", () => {
  for (const address of [
    "http://e.test",
    "http://e.test/v1/",
    "http://e.test/a/v1/models",
    "https://e.test/api",
  ]) {
    const guesses = guessBaseAddresses(address);
    expect(guesses.length).toBeLessThanOrEqual(5);
    expect(guesses).not.toContain(address.replace(/\/$/, ""));
  }
});

it("guesses only addresses of the same host, for any host name, because they receive the account's token", () => {
  for (const name of ["api", "v1", "v1beta", "models", "messages", "responses", "completions"]) {
    for (const address of [
      `http://${name}`,
      `https://${name}/`,
      `http://${name}/v1`,
      `http://${name}:80/api`,
    ]) {
      const hosts = guessBaseAddresses(address).map((guess) => new URL(guess).host);
      expect(new Set(hosts)).toEqual(new Set([new URL(address).host]));
    }
  }
});
