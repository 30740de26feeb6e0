import { expect, it } from "vitest";
import { findNearNames } from "../../../../src/operator/console/pages/usage/check-price-name.ts";

it.each([
  ["gpt-4p", ["vendor/gpt-4o"]],
  ["qwen3", ["engine/qwen3:8b"]],
  ["vendor/gtp-4o", ["vendor/gpt-4o"]],
  ["something else", []],
])("suggests similar names for the price of %s: %j", (name, near) => {
  expect(findNearNames(name, ["vendor/gpt-4o", "engine/qwen3:8b", "vendor/gpt-4o"])).toEqual(near);
});
