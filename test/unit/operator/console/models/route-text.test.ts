import { describe, expect, it } from "vitest";
import {
  addTarget,
  moveTarget,
  toRoute,
  toTargets,
} from "../../../../../src/operator/console/pages/models/route-draft.ts";
import {
  findRouteFault,
  summarizeRoute,
} from "../../../../../src/operator/console/pages/models/route-text.ts";

const ROUTE = ["engine/qwen3:8b", { model: "provider-v4-pro", weight: 2 }, { model: "house", weight: 0.5 }];

describe("a route in its form", () => {
  it("keeps its values, and loses empty rows", () => {
    expect(toRoute(toTargets(ROUTE))).toEqual(ROUTE);
    expect(toTargets([])).toEqual([{ model: "", weight: "" }]);
    expect(toRoute(addTarget(toTargets(["one"])))).toEqual(["one"]);
  });

  it("moves a row to another place, but not beyond the ends", () => {
    const moved = (from: number, to: number) => toRoute(moveTarget(toTargets(["a", "b", "c"]), from, to));
    expect(moved(2, 0)).toEqual(["c", "a", "b"]);
    expect(moved(0, 1)).toEqual(["b", "a", "c"]);
    expect(moved(0, -1)).toEqual(["a", "b", "c"]);
    expect(moved(2, 3)).toEqual(["a", "b", "c"]);
  });

  it("is summarized in one line, as an order or as weights", () => {
    expect(summarizeRoute(["a", { model: "b" }])).toBe("a → b");
    expect(summarizeRoute(ROUTE)).toBe("engine/qwen3:8b ×1, provider-v4-pro ×2, house ×0.5");
  });

  it("is summarized with its strategy", () => {
    expect(summarizeRoute({ strategy: "cheapest", models: ["a", "b"] })).toBe("Cheapest first of: a, b");
    expect(summarizeRoute({ strategy: "order", models: ["a", "b"] })).toBe("a → b");
  });

  it("shows the gateway's error without the name of the field", () => {
    expect(findRouteFault('model_routes.best[1]: "x" is no model', "best")).toBe('"x" is no model');
    expect(findRouteFault("model_routes.gpt-4.1[0].weight: too big", "gpt-4.1")).toBe("too big");
    expect(findRouteFault("models[0].weight: too big", "best")).toBe("too big");
    expect(findRouteFault("the configuration is read-only", "best")).toBeNull();
  });
});
