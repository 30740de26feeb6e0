import { afterEach, describe, expect, it, vi } from "vitest";
import { play, shrunk, stepsOf } from "../../../bench/model/run.ts";
import type { Step } from "../../../bench/model/world.ts";
import { Handover } from "../../../src/pool/account-handover.ts";
import { LimitShare } from "../../../src/pool/limit-share.ts";

const STEPS = 1_500;
const SEEDS = [1, 2, 3, 4];

afterEach(() => {
  vi.restoreAllMocks();
});

/** The first of some runs that goes wrong in a certain way. */
async function stepsThat(fault: RegExp): Promise<readonly Step[]> {
  for (let seed = 1; seed <= 12; seed += 1) {
    const steps = stepsOf(seed, STEPS);
    if (fault.test((await play(steps)).fault ?? "")) return steps;
  }
  return [];
}

describe("shards, whatever happens to messages, pools, accounts, limits and layouts", () => {
  it("grant no slot twice, pass no limit, lose no request and no slot", async () => {
    const runs = await Promise.all(SEEDS.map((seed) => play(stepsOf(seed, STEPS))));
    expect(runs.map(({ fault }) => fault)).toEqual(SEEDS.map(() => null));
    // Otherwise nothing was tried.
    for (const name of ["granted", "waited", "timedOut", "restarts", "resized"] as const)
      expect(runs.reduce((all, { counts }) => all + counts[name], 0)).toBeGreaterThan(0);
  });

  it("play the same run for the same seed", async () => {
    expect(await play(stepsOf(7, 500))).toEqual(await play(stepsOf(7, 500)));
  });
});

describe("the model check finds", () => {
  it("parts of which each message is counted anew", async () => {
    const sums = new WeakMap<LimitShare, number>();
    const { recordGiven } = LimitShare.prototype;
    vi.spyOn(LimitShare.prototype, "recordGiven").mockImplementation(function (
      this: LimitShare,
      peer,
      given,
    ) {
      const sum = (sums.get(this) ?? 0) + given;
      sums.set(this, sum);
      return recordGiven.call(this, peer, sum);
    });
    expect(await stepsThat(/slots are in use|requests wait|units/)).not.toEqual([]);
  });

  it("parts that are given away while they are in use", async () => {
    const { handleRequest } = LimitShare.prototype;
    vi.spyOn(LimitShare.prototype, "handleRequest").mockImplementation(function (
      this: LimitShare,
      peer,
      ask,
      use,
      now,
    ) {
      return handleRequest.call(this, peer, ask, { ...use, inUse: 0 }, now);
    });
    expect(await stepsThat(/slots are in use/)).not.toEqual([]);
  });

  it("slots that are granted before their account's last shard is done with them, and says in how few steps", async () => {
    vi.spyOn(Handover.prototype, "slotsElsewhere").mockReturnValue(0);
    const steps = await stepsThat(/requests use account/);
    const few = await shrunk(steps, 20);
    expect(few.length).toBeLessThan(steps.length);
    expect((await play(few)).fault).not.toBeNull();
  });
});
