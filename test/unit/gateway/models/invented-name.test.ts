import { expect, it } from "vitest";
import { providerSchema } from "../../../../src/core/config/schemas/provider-schema.ts";
import { findInventedName } from "../../../../src/gateway/models/invented-name.ts";
import { resolveModel } from "../../../../src/gateway/models/resolve-model.ts";

const CONFIG = {
  providers: [
    providerSchema.parse({
      ...{ id: "oa", driver: "openai", base_url: "https://example.com/v1" },
      models: { listed: { upstream: "listed-2026" }, plain: "plain" },
    }),
  ],
  model_aliases: { short: "oa/aliased" },
  model_routes: { routed: ["oa/first", "oa/second"] },
  unknown_models: { provider: "oa" },
};

it.each([
  ["oa/any text", "any text"],
  ["oa/Any Text-nothinking", "Any Text"],
  ["default/any text", "any text"],
  ["any text", "any text"],
  ["oa/listed", undefined],
  ["oa/LISTED", undefined],
  ["oa/listed-2026", undefined],
  ["oa/plain-nothinking", undefined],
  ["short", undefined],
  ["routed", undefined],
  ["provider-v4-flash", undefined],
  ["default/provider-v4-flash", undefined],
])("finds the part of %j that the caller may have invented: %j", (requested, name) => {
  expect(findInventedName(resolveModel(requested, CONFIG), CONFIG)).toBe(name);
});
