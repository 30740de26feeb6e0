import { describe, expect, it } from "vitest";
import {
  findRouteFault,
  formatRoute,
  parseRoute,
  summarizeRoute,
} from "../../../../../src/operator/console/pages/models/route-text.ts";

const ROUTE = ["engine/qwen3:8b", { model: "provider-v4-pro", weight: 2 }, { model: "house", weight: 0.5 }];

describe("a route in its form", () => {
  it("comes back as it was", () => {
    expect(parseRoute(formatRoute(ROUTE))).toEqual(ROUTE);
    expect(parseRoute(" one \n\n two 3 ")).toEqual(["one", { model: "two", weight: 3 }]);
    expect(parseRoute(" \n")).toEqual([]);
    expect(parseRoute("a 1 2.5\nb\t3\nc4\nd 5x\n6\ne  .5")).toEqual([
      { model: "a 1", weight: 2.5 },
      { model: "b", weight: 3 },
      "c4",
      "d 5x",
      "6",
      "e  .5",
    ]);
  });

  it("is summarized in one line, as an order or as shares", () => {
    expect(summarizeRoute(["a", { model: "b" }])).toBe("a → b");
    expect(summarizeRoute(ROUTE)).toBe("engine/qwen3:8b ×1, provider-v4-pro ×2, house ×0.5");
  });

  it("shows what the gateway says of it without the name of the field", () => {
    expect(findRouteFault('model_routes.best[1]: "x" is no model', "best")).toBe('"x" is no model');
    expect(findRouteFault("model_routes.gpt-4.1[0].weight: too big", "gpt-4.1")).toBe("too big");
    expect(findRouteFault("models[0].weight: too big", "best")).toBe("too big");
    expect(findRouteFault("the configuration is read-only", "best")).toBeNull();
  });
});
