import { expect, it } from "vitest";
import { summarizeActivity } from "../../../../src/operator/console/pages/accounts/activity-summary.ts";

it("an account is shown as failing if the gateway says so, whatever its last request did", () => {
  const activity = {
    in_flight: 0,
    last_used: 2,
    last_success: 1,
    last_fault: { kind: "cut", reason: "broke off", fault: "provider", at: 2 } as const,
    last_hour: { requests: 10, succeeded: 9 },
    last_day: { requests: 10, succeeded: 9 },
  };
  expect(summarizeActivity({ condition: "ok", activity })).toMatchObject({
    good: true,
    text: "90 % success, 10 requests/h",
    title: expect.stringContaining("broke off"),
  });
  expect(summarizeActivity({ condition: "failing", activity })).toMatchObject({
    good: false,
    text: "broke off",
  });
});
