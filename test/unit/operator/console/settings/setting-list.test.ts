import { expect, test } from "vitest";
import { configSchema } from "../../../../../src/core/config/schema.ts";
import { SETTING_GROUPS } from "../../../../../src/operator/console/pages/settings/setting-list.ts";

const numbers = SETTING_GROUPS.flatMap(({ settings }) =>
  settings.flatMap(({ path, kind }) => (kind.type === "number" ? [{ path, ...kind }] : [])),
);

const accepts = (path: string, value: number): boolean => {
  const [group = "", field = ""] = path.split(".");
  return configSchema.safeParse({ [group]: { [field]: value } }).success;
};

test.each(numbers)("the gateway accepts the bounds of $path", ({ path, min, max }) => {
  expect([accepts(path, min), accepts(path, max)]).toEqual([true, true]);
});

test("the longest captured body has one limit", () => {
  const setting = numbers.find(({ path }) => path === "captures.max_body_bytes");
  expect(setting).toMatchObject({ min: 1_024, max: 8_388_608 });
  expect(accepts("captures.max_body_bytes", 8_388_609)).toBe(false);
});
