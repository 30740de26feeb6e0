import { describe, expect, it } from "vitest";
import { TabPolicy } from "../../../../src/pages/browser/tab-policy.ts";

function policyOf(limits: { requests: number; bytes: number }) {
  const events: string[] = [];
  const tell = (name: string) => () => void events.push(name);
  const policy = new TabPolicy("main", limits, {
    forbidden: tell("forbidden"),
    full: tell("full"),
    flooded: tell("flooded"),
    insistent: tell("insistent"),
  });
  return { policy, events };
}

describe("what one tab may", () => {
  it("load: so many requests, and no page goes on asking", () => {
    const { policy, events } = policyOf({ requests: 3, bytes: 100 });
    const admitted = Array.from({ length: 7 }, (_, index) =>
      policy.admits(`https://a.example/${index}`, false),
    );
    expect(admitted).toEqual([true, true, true, false, false, false, false]);
    expect([policy.overBudget, events]).toEqual([true, ["insistent"]]);
  });

  it("load: so many bytes, of which as many again may be under way", () => {
    const { policy, events } = policyOf({ requests: 3, bytes: 100 });
    policy.received(100);
    expect([policy.overBudget, events]).toEqual([false, []]);
    policy.received(1);
    expect([policy.overBudget, events]).toEqual([true, ["full"]]);
    policy.received(100);
    policy.received(100);
    expect(events).toEqual(["full", "flooded"]);
  });

  it("have the browser tell of it: what it loads from itself, its frames and its workers", () => {
    const { policy, events } = policyOf({ requests: 10, bytes: 100 });
    for (let told = 0; told < 200; told++) policy.told();
    expect(events).toEqual([]);
    for (let told = 0; told < 500; told++) policy.told();
    expect(events).toEqual(["flooded"]);
    const other = policyOf({ requests: 10, bytes: 100 });
    for (let workers = 0; workers < 3; workers++) other.policy.grew();
    expect(other.events).toEqual(["flooded"]);
    const third = policyOf({ requests: 10, bytes: 100 });
    for (let changes = 0; changes < 10; changes++) third.policy.renamed();
    expect(third.events).toEqual([]);
    third.policy.renamed();
    expect(third.events).toEqual(["flooded"]);
  });
});
