import { describe, expect, it } from "vitest";
import { type Scenario, simulate } from "../../../bench/simulation/simulate.ts";
import { SlotUsage } from "../../support/pool-simulator/slot-usage.ts";

/** A short day on which everything happens. */
const ROUGH: Scenario = {
  accounts: 60,
  rate: 40,
  shards: 6,
  lengthMs: 4_000,
  seed: 20_261_122,
  global: 90,
  burst: 3,
  banned: 0.1,
  deployment: true,
  lostRegion: "weur",
};

describe("the simulation", () => {
  it("plays the same run for the same seed; all requests end", async () => {
    const [one, other] = [await simulate(ROUGH), await simulate(ROUGH)];
    expect(other).toEqual(one);
    expect(one.requests).toBeGreaterThan(100);
    expect(one).toMatchObject({ doubleGrants: 0, overLimit: 0, left: 0 });
    const refused = Object.values(one.refusals).reduce((all, count) => all + count, 0);
    expect(one.done + one.aborted + refused).toBe(one.requests);
    expect(one.mostInUse).toBeLessThanOrEqual(90);
  });

  it("charges a lease with the round trip to the pool, and with nothing else while all is calm", async () => {
    const { byRegion } = await simulate({ accounts: 100, rate: 60, shards: 1, lengthMs: 2_000, seed: 7 });
    // 10 and 217 ms there and back, up to a fifth more, and 1 ms in the object.
    const [here, , , , far] = byRegion;
    expect(here?.p50).toBeGreaterThanOrEqual(11);
    expect(here?.p50).toBeLessThanOrEqual(15);
    expect(far?.p50).toBeGreaterThanOrEqual(218);
    expect(far?.p50).toBeLessThanOrEqual(264);
  });

  it("would notice a slot that is granted twice", () => {
    const usage = new SlotUsage(1, 1);
    usage.begin("a", "one");
    usage.begin("a", "other");
    expect(usage).toMatchObject({ doubleGrants: 1, overLimit: 1 });
  });
});
