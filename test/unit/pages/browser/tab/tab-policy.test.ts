import { describe, expect, it } from "vitest";
import { TabPolicy } from "../../../../../src/pages/browser/tab/tab-policy.ts";

function policyOf(limits: { requests: number; bytes: number }) {
  const events: string[] = [];
  const record = (name: string) => () => void events.push(name);
  const policy = new TabPolicy("main", limits, {
    onForbiddenNavigation: record("forbidden"),
    onByteLimit: record("full"),
    onTrafficFlood: record("flooded"),
    onRequestFlood: record("insistent"),
  });
  return { policy, events };
}

describe("the policy of a tab", () => {
  it.each([3, 2_000])("admits %i requests, and reports far more as a request flood", (requests) => {
    const { policy, events } = policyOf({ requests, bytes: 100 });
    const refused = Math.max(1_000, requests);
    const ask = (n: number) =>
      Array.from({ length: n }, () => policy.admitRequest("https://a.example/", false));
    expect(ask(requests)).not.toContain(false);
    expect(ask(refused - 1)).not.toContain(true);
    expect([policy.overBudget, events]).toEqual([true, []]);
    ask(refused);
    expect(events).toEqual(["insistent"]);
  });

  it("reports when the allowed bytes are exceeded, and a flood when far more are loaded", () => {
    const { policy, events } = policyOf({ requests: 3, bytes: 100 });
    policy.countBytes(100);
    expect([policy.overBudget, events]).toEqual([false, []]);
    policy.countBytes(1);
    expect([policy.overBudget, events]).toEqual([true, ["full"]]);
    policy.countBytes(100);
    policy.countBytes(100);
    expect(events).toEqual(["full", "flooded"]);
  });

  it.each([10, 2_000])("reports a flood of browser events if %i requests are allowed", (requests) => {
    const most = 20 * Math.max(1_000, requests);
    const eventsOf = (times: number, what: "countEvent" | "countTarget" | "countAddressChange") => {
      const { policy, events } = policyOf({ requests, bytes: 100 });
      for (let n = 0; n < times; n++) policy[what]();
      return events;
    };
    for (const [what, weight] of [
      ["countEvent", 1],
      ["countTarget", 100],
      ["countAddressChange", 20],
    ] as const) {
      expect(eventsOf(most / weight, what)).toEqual([]);
      expect(eventsOf((2 * most) / weight, what)).toEqual(["flooded"]);
    }
  });
});
