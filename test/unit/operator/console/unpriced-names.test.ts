import { expect, it } from "vitest";
import { listUnpricedNames } from "../../../../src/operator/console/pages/usage/unpriced-names.ts";

it("lists models that have no price, neither their own nor one at their provider, without routes and variants", () => {
  const price = { input: 1, output: 2 };
  const providers = [{ id: "vendor", models: { paid: { price }, free: "free", other: { context: 5 } } }];
  const models = [
    "flash",
    "flash-nothinking",
    "pro",
    "pro-nothinking",
    "vendor/paid",
    "vendor/free",
    "vendor/other",
    "best",
  ];
  expect(listUnpricedNames(models, ["Pro-nothinking", "vendor/other"], ["best"], providers)).toEqual([
    "flash",
    "vendor/free",
  ]);
});
