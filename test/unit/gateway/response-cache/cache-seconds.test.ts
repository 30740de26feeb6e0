import { expect, it } from "vitest";
import { configSchema } from "../../../../src/core/config/schema.ts";
import { usesResponseCache } from "../../../../src/core/config/schemas/response-cache-schema.ts";
import { selectCacheSeconds } from "../../../../src/gateway/response-cache/cache-seconds.ts";

const provider = (id: string, ttl_seconds?: number) => ({
  ...{ id, driver: "openai", base_url: "http://backend.test" },
  ...(ttl_seconds === undefined ? {} : { cache: { ttl_seconds } }),
});

const configOf = (more: object) => configSchema.parse({ keys: ["sk"], ...more });

const everything = configOf({
  cache: { ttl_seconds: 1, models: { named: { ttl_seconds: 3 }, off: { ttl_seconds: 0 }, empty: {} } },
  providers: [provider("cached", 2), provider("shorter", 1), provider("never", 0), provider("plain")],
});

const target = (id: string, providerId?: string) => ({
  ...{ id, upstream: id, thinking: false, search: false, vision: false },
  ...(providerId === undefined ? {} : { provider: providerId }),
});
const model = (id: string, providerId?: string) => ({ ...target(id, providerId), requested: id });
const route = (...providers: string[]) => ({
  ...model("m"),
  route: providers.map((id) => ({ model: target("m", id) })),
});

it.each([
  ["all requests", undefined, model("m"), 1],
  ["a provider without a setting", undefined, model("m", "plain"), 1],
  ["a provider", undefined, model("m", "cached"), 2],
  ["a provider that is off", undefined, model("m", "never"), 0],
  ["a model as used", undefined, { ...model("named", "cached"), requested: "alias" }, 3],
  ["a model as requested", undefined, { ...model("m", "cached"), requested: "named" }, 3],
  ["a model that is off", undefined, model("off", "cached"), 0],
  ["a model without a time", undefined, model("empty", "cached"), 2],
  ["a key", 9, model("off", "cached"), 9],
  ["a key that is off", 0, model("named", "cached"), 0],
  ["a route, the shortest time", undefined, route("cached", "shorter"), 1],
  ["a route with a provider that is off", undefined, route("cached", "never"), 0],
  ["a name of Object.prototype", undefined, model("constructor", "cached"), 2],
])("uses the setting of %s", (_, ofKey, asked, seconds) => {
  const key = ofKey === undefined ? {} : { cache: { ttl_seconds: ofKey } };
  expect(selectCacheSeconds(everything, key, asked)).toBe(seconds);
});

it("uses the default provider's setting only for its models", () => {
  const config = configOf({
    cache: { ttl_seconds: 1 },
    default_provider: { cache: { ttl_seconds: 7 } },
    providers: [provider("cached", 9), provider("plain")],
  });
  const seconds = [
    model("m"),
    model("m", "plain"),
    { ...route("cached"), route: [{ model: target("m") }] },
  ].map((asked) => selectCacheSeconds(config, {}, asked));
  expect(seconds).toEqual([7, 1, 7]);
});

it.each([
  ["nothing", {}, false],
  ["times of 0", { cache: { ttl_seconds: 0, models: { m: { ttl_seconds: 0 } } } }, false],
  ["all requests", { cache: { ttl_seconds: 1 } }, true],
  ["a model", { cache: { models: { m: { ttl_seconds: 1 } } } }, true],
  ["a provider", { providers: [provider("p", 1)] }, true],
  ["the provider of the variables", { default_provider: { cache: { ttl_seconds: 1 } } }, true],
  ["a key", { api_keys: [{ key: "sk-2", cache: { ttl_seconds: 1 } }] }, true],
])("detects that a configuration uses the cache: %s, %s", (_, more, uses) => {
  expect(usesResponseCache(configOf(more))).toBe(uses);
});
