import { describe, expect, it } from "vitest";
import { isObject, type JsonObject } from "../../../../src/core/encoding/json.ts";
import {
  DRIVER_ALIASES,
  DRIVER_NAMES,
  findDriver,
  getDriver,
  isSameDriver,
} from "../../../../src/gateway/providers/drivers.ts";
import { eventBlocks } from "../../../support/fault-body.ts";
import { type MemoryGateway, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { KEY } from "../../../support/memory-platform.ts";
import { ScriptedUpstream, type UpstreamRequest } from "../../../support/scripted-upstream.ts";
import { inOnePiece } from "../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

const PROTOCOLS = {
  responses: /\/responses$/,
  messages: /\/messages$/,
  "content-generation": /:generateContent$/,
} as const;

/** Each alias, the name that replaced it, and the protocol of its driver. */
const CASES = [
  { alias: "responses", name: "openai-responses", protocol: "responses" },
  { alias: "messages", name: "anthropic", protocol: "messages" },
  { alias: "content-generation", name: "gemini", protocol: "content-generation" },
] as const;

type Protocol = keyof typeof PROTOCOLS;

const upstreamOf = (protocol: Protocol) =>
  new ScriptedUpstream((asked) =>
    PROTOCOLS[protocol].test(asked.path)
      ? inOnePiece(protocol, asked, { body: eventBlocks(protocol, { text: "Hi." }) })
      : { status: 404, json: {} },
  );

const backend = (driver: string) => ({
  id: "backend",
  driver,
  base_url: "http://backend.test/v1",
  token: "sk-backend-token",
});

async function callAdmin(
  gateway: MemoryGateway,
  method: string,
  path: string,
  body?: object,
): Promise<JsonObject> {
  const response = await gateway.request(path, {
    method,
    headers: { authorization: "Bearer admin", "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  expect([response.status, answer]).toEqual([200, expect.anything()]);
  return isObject(answer) ? answer : {};
}

/** The driver of the provider `backend`, as an export states it. */
async function exportedDriver(gateway: MemoryGateway): Promise<unknown> {
  const { config } = await callAdmin(gateway, "GET", "/admin/config/export");
  const [provider]: unknown[] =
    isObject(config) && Array.isArray(config["providers"]) ? config["providers"] : [];
  return isObject(provider) ? provider["driver"] : undefined;
}

const env = { ADMIN_KEY: "admin" };

/** Every way in which the driver of a configured provider can be stated. */
const WAYS: Readonly<Record<string, (driver: string, upstream: ScriptedUpstream) => Promise<MemoryGateway>>> =
  {
    "a stored configuration": (driver, upstream) =>
      createGateway({ upstream, env, config: { providers: [backend(driver)] } }),
    GATEWAY_CONFIG_JSON: (driver, upstream) => {
      const config = { keys: [KEY], providers: [backend(driver)] };
      return createGateway({ upstream, env: { ...env, GATEWAY_CONFIG_JSON: JSON.stringify(config) } });
    },
    "a provider that is added": async (driver, upstream) => {
      const gateway = await createGateway({ upstream, env });
      await callAdmin(gateway, "POST", "/admin/providers", backend(driver));
      return gateway;
    },
    "a provider that is changed": async (driver, upstream) => {
      const gateway = await createGateway({ upstream, env, config: { providers: [backend("openai")] } });
      await callAdmin(gateway, "PUT", "/admin/providers/backend", { driver });
      return gateway;
    },
    "an import": async (driver, upstream) => {
      const gateway = await createGateway({ upstream, env });
      await callAdmin(gateway, "POST", "/admin/config/import", { providers: [backend(driver)] });
      return gateway;
    },
  };

/** What the upstream is asked when a caller asks for a model. */
async function requestsFor(gateway: MemoryGateway, model: string): Promise<unknown[]> {
  const messages = [{ role: "user", content: "Hello?" }];
  const response = await gateway.post("/v1/chat/completions", { model, messages });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("Hi.")]);
  return gateway.upstream.asked.map(({ host, path, token, headers, body }: UpstreamRequest) => {
    const key = headers.get("x-api-key") ?? headers.get("x-goog-api-key") ?? token;
    return { host, path, key, body };
  });
}

it("each alias has a case here, and leads to the driver of its new name", () => {
  expect(CASES.map(({ alias, name }) => [alias, name])).toEqual([...DRIVER_ALIASES]);
  for (const { alias, name } of CASES) {
    expect(getDriver(alias)).toBe(getDriver(name));
    expect(getDriver(name).id).toBe(name);
    expect(isSameDriver(alias, name)).toBe(true);
    expect(isSameDriver(alias, "openai")).toBe(false);
    expect(DRIVER_NAMES).not.toContain(alias);
  }
});

it("an unknown name leads to no driver", () => {
  for (const name of ["telepathy", "", "constructor", "Messages"]) {
    expect(findDriver(name)).toBeUndefined();
    expect(() => getDriver(name)).toThrow(RangeError);
  }
});

describe.each(CASES)("the alias $alias of the driver $name", ({ alias, name, protocol }) => {
  it("is accepted in PROVIDER_DRIVER, stays as stated and behaves like the new name", async () => {
    const requests: unknown[] = [];
    for (const driver of [alias, name]) {
      const gateway = await createGateway({
        upstream: upstreamOf(protocol),
        env: { ...env, PROVIDER_DRIVER: driver },
        config: { accounts: [{ token: "key" }] },
      });
      requests.push(await requestsFor(gateway, "gpt-4o"));
      const { items } = await callAdmin(gateway, "GET", "/admin/providers");
      expect(items).toMatchObject([{ id: "default", driver }]);
    }
    expect(requests[0]).toHaveLength(1);
    expect(requests[0]).toEqual(requests[1]);
  });

  it.each(Object.entries(WAYS))(
    "is accepted in %s, stays as stated and behaves like the new name",
    async (_, state) => {
      const requests: unknown[] = [];
      for (const driver of [alias, name]) {
        const gateway = await state(driver, upstreamOf(protocol));
        // Without the driver's own treatment of model names, the path would contain `models/` twice for one protocol.
        requests.push(await requestsFor(gateway, "backend/models/small"));
        expect(await exportedDriver(gateway)).toBe(driver);
      }
      expect(requests[0]).toMatchObject([{ host: "backend.test", key: "sk-backend-token" }]);
      expect(requests[0]).toEqual(requests[1]);
    },
  );
});
