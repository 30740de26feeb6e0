import { describe, expect, test } from "vitest";
import {
  describeFault,
  findField,
  splitFault,
} from "../../../../src/operator/console/ui/forms/form-errors.ts";

describe("an error of the gateway", () => {
  test.each([
    ["name: must not be empty", { path: "name", fault: "must not be empty" }],
    ["limits.cost_per_day: must be at least 0", { path: "limits.cost_per_day", fault: "must be at least 0" }],
    ["networks[1]: is no network: 1.2.3", { path: "networks[1]", fault: "is no network: 1.2.3" }],
    ["the password is wrong", null],
    ["too many failed attempts: try again in 4 s", null],
  ])("is split into the path of the field and the fault, if it names a field: %s", (message, parts) => {
    expect(splitFault(message)).toEqual(parts);
  });

  test.each([
    ["name", "name"],
    ["models[2]", "models"],
    ["limits.cost_per_day", "limits.cost_per_day"],
    ["api_keys[0].limits.cost_per_day", "limits.cost_per_day"],
    ["default_provider.limits.cost_per_day", "limits.cost_per_day"],
    ["teams[12].models[2]", "models"],
    ["limits.unknown", undefined],
    ["api_keys[0].limits.unknown", undefined],
    ["providers[3].name", "name"],
    ["accounts[0].provider", undefined],
    ["names", undefined],
  ])("about %s is shown at the field %s", (path, field) => {
    expect(findField(path, ["name", "models", "limits.cost_per_day"])).toBe(field);
  });

  test.each([
    ["headers.Host", "headers", "Host: is wrong"],
    ["providers[3].headers.X-Title", "headers", "X-Title: is wrong"],
    ["models[2]", "models", "is wrong"],
    ["api_keys[0].limits.cost_per_day", "limits.cost_per_day", "is wrong"],
  ])("about %s names the part that the field %s does not show: %s", (path, field, shown) => {
    expect(describeFault(path, "is wrong", field)).toBe(shown);
  });
});
