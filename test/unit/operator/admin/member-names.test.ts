import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/core/encoding/json.ts";
import { useMemoryGateway } from "../../../support/memory-gateway.ts";

/** Names in tables of the configuration, such as `prices`, that are also names of members of every object. */

const createGateway = useMemoryGateway();

const PROVIDER = { driver: "openai", base_url: "http://vendor.test/v1", token: "sk-vendor" };

/** Requests with the name `NAME` in a table, and the table in the export. */
const TABLES = [
  ["prices", "PUT", "/admin/settings", '{"prices":{"NAME":{"input":1}}}', "prices"],
  ["aliases", "PUT", "/admin/settings", '{"model_aliases":{"NAME":"provider-v4-pro"}}', "model_aliases"],
  ["aliases", "POST", "/admin/config", '{"model_aliases":{"NAME":"provider-v4-pro"}}', "model_aliases"],
  ["routes", "PUT", "/admin/settings", '{"model_routes":{"NAME":["provider-v4-pro"]}}', "model_routes"],
  [
    "cache seconds",
    "PUT",
    "/admin/settings",
    '{"cache":{"models":{"NAME":{"ttl_seconds":9}}}}',
    "cache.models",
  ],
  ["models", "PUT", "/admin/providers/vendor", '{"models":{"NAME":"theirs"}}', "providers.0.models"],
  ["headers", "PUT", "/admin/providers/vendor", '{"headers":{"NAME":"x"}}', "providers.0.headers"],
  ["imported prices", "POST", "/admin/config/import", '{"prices":{"NAME":{"input":1}}}', "prices"],
  [
    "imported prices",
    "POST",
    "/admin/config/import?mode=replace&confirm=true",
    '{"keys":["sk-a"],"prices":{"NAME":{"input":1}}}',
    "prices",
  ],
] as const;

const member = (value: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((within, name) => (within as JsonObject)[name], value);

async function prepare() {
  const gateway = await createGateway({
    env: { ADMIN_KEY: "admin-key" },
    config: { providers: [{ id: "vendor", ...PROVIDER }] },
  });
  const send = (method: string, path: string, body?: string) =>
    gateway.request(path, {
      method,
      headers: { authorization: "Bearer admin-key", "content-type": "application/json" },
      ...(body === undefined ? {} : { body }),
    });
  return { send };
}

test.each(TABLES)(
  "accepts names that objects have by default: %s: %s %s",
  async (_, method, path, body, table) => {
    const { send } = await prepare();
    for (const name of ["constructor", "toString", "hasOwnProperty"]) {
      const response = await send(method, path, body.replace("NAME", name));
      expect([name, response.status]).toEqual([name, 200]);
      const { config } = Object(await (await send("GET", "/admin/config/export")).json());
      expect(Object.keys(Object(member(config, table)))).toContain(name);
    }
  },
);

test.each(TABLES)("%s: %s %s refuses a name that would be lost", async (_, method, path, body) => {
  const { send } = await prepare();
  for (const name of ["__proto__", " __proto__ ", "__pr\\u006fto__"]) {
    const response = await send(method, path, body.replace("NAME", name));
    const { detail } = Object(await response.json());
    expect([name, response.status, detail]).toEqual([
      name,
      400,
      expect.stringMatching(/[a-z]\. ?__proto__ ?: this name is not possible$/),
    ]);
  }
});

test.each([
  ["a field of the body", "POST", "/admin/keys", '{"key":"sk-new-key-0001","__proto__":{}}'],
  ["an import as text", "POST", "/admin/config/import", '{"json":"{\\"prices\\":{\\"__proto__\\":{}}}"}'],
  ["the name of a route", "POST", "/admin/routes", '{"name":"__proto__","models":["provider-v4-pro"]}'],
])("%s is refused, too", async (_, method, path, body) => {
  const { send } = await prepare();
  const response = await send(method, path, body);
  expect([response.status, Object(await response.json()).detail]).toEqual([
    400,
    expect.stringMatching(/this name is not possible|there is no field/),
  ]);
});

test("a name that would be lost is found at any depth of a configuration, in lists, too", async () => {
  const { send } = await prepare();
  const body = '{"config":{"providers":[{"id":"a"},{"id":"b","models":{"m":{"__proto__":1}}}]}}';
  const response = await send("POST", "/admin/config/import", body);
  expect(await response.json()).toEqual({
    detail: "config.providers[1].models.m.__proto__: this name is not possible",
  });
  const deep = `{"prices":${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}}`;
  const nested = await send("POST", "/admin/config/import", JSON.stringify({ json: deep }));
  expect(nested.status).toBeLessThan(500);
});
