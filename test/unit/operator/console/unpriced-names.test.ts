import { expect, it } from "vitest";
import { listUnpricedNames } from "../../../../src/operator/console/pages/usage/unpriced-names.ts";

it("models without a price are those with neither an own price nor one at their provider; routes and variants are none", () => {
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
