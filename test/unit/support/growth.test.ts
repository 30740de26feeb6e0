import { describe, expect, it } from "vitest";
import { growthOf, MAX_GROWTH } from "../../support/growth.ts";

const pushes = (stage: (held: string) => unknown) => (n: number) => () => {
  let held = "";
  let seen = 0;
  for (let at = 0; at < n; at++) {
    held += " ";
    seen += Number(Boolean(stage(held)));
  }
  return seen;
};

describe("the measure of growth", () => {
  it("lets linear work pass", async () => {
    expect(await growthOf(pushes((held) => held.length))).toBeLessThan(MAX_GROWTH);
  });

  it("sees that a stage trims all that it holds with each push, however fast the machine does it", async () => {
    // One hiccup while the small input is measured hides the square: what slows a stage down is seen in most runs, not in each.
    let growth = 0;
    for (let run = 0; run < 3 && growth <= MAX_GROWTH; run++) {
      growth = await growthOf(pushes((held) => held.trimEnd()));
    }
    expect(growth).toBeGreaterThan(MAX_GROWTH);
  }, 60_000);
});
