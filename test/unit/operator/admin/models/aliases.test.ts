import { expect, it } from "vitest";
import { configSchema } from "../../../../../src/core/config/schema.ts";
import { assertReferences } from "../../../../../src/operator/admin/editing/config-references.ts";
import {
  aliasesSchema,
  routeNameSchema,
  routesSchema,
} from "../../../../../src/operator/admin/models/aliases.ts";
import { refusalOf } from "../../../../support/refusal.ts";

it("refuses a wildcard in an alias, and suggests a route", () => {
  const { error } = aliasesSchema().safeParse({ "gpt-*": "provider-v4-flash" });
  expect(error?.message).toContain("use a route");
  expect(aliasesSchema().safeParse({ "gpt-4": "provider-v4-flash" }).success).toBe(true);
});

it("a route has at most one wildcard", () => {
  const accepts = (name: string) => routesSchema().safeParse({ [name]: ["provider-v4-flash"] }).success;
  expect(["gpt-*", "*", "a*b", "plain"].map(accepts)).toEqual([true, true, true, true]);
  expect(["**", "a*b*"].map(accepts)).toEqual([false, false]);
});

it("a route cannot have a name that objects lose", () => {
  expect(routeNameSchema().safeParse("__proto__").success).toBe(false);
  expect(routeNameSchema().safeParse("constructor").success).toBe(true);
});

it("an alias may name a route, but nothing that does not exist", () => {
  const before = configSchema.parse({});
  const after = (to: string) =>
    configSchema.parse({ model_routes: { best: ["provider-v4-pro"] }, model_aliases: { mine: to } });
  expect(() => assertReferences(before, after("best"))).not.toThrow();
  expect(refusalOf(() => assertReferences(before, after("worst")))).toMatchObject({
    param: "model_aliases.mine",
  });
});
