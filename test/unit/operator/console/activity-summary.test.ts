import { expect, it } from "vitest";
import { summarizeActivity } from "../../../../src/operator/console/pages/accounts/activity-summary.ts";
import { describeHealth } from "../../../../src/operator/console/pages/accounts/describe-health.ts";

it("shows an account as failing if the gateway does, and its last failure only in the tooltip otherwise", () => {
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
    text: "90% success, 10 requests/h",
    title: expect.stringContaining("broke off"),
  });
  expect(summarizeActivity({ condition: "failing", activity })).toMatchObject({
    good: false,
    text: "broke off",
  });
});

it("begins the details of an account with the whole reason of its failed test", () => {
  const activity = {
    in_flight: 0,
    last_used: 2,
    last_success: 1,
    last_fault: {
      kind: "token_expired",
      reason: "refused; the provider says: no",
      fault: "account",
      at: 2,
    } as const,
    last_hour: { requests: 2, succeeded: 1 },
    last_day: { requests: 2, succeeded: 1 },
  };
  const account = { activity, condition: "ok", cooldown: null, disabled: false, quotas: [] } as const;
  const message = `the provider refused the account's token; the provider says: ${"why ".repeat(90)}`;
  const test = { success: false, message, response_time: 5, session_count: 0, config_warning: "" };
  const { label, lines } = describeHealth(account, test);
  expect(label).toBe("failed");
  expect(lines[0]).toBe(message);
  expect(lines.join("\n")).toContain("the provider says: no");
  expect(describeHealth(account, undefined)).toMatchObject({
    label: "ok",
    text: "50% success, 2 requests/h",
  });
});
