import { describe, expect, it } from "vitest";
import { ProviderError } from "../../../../src/core/errors/provider-error.ts";
import { RetryBudget } from "../../../../src/core/retries/retry-budget.ts";
import { MAX_ATTEMPTS, MAX_RETRY_TIME_MS } from "../../../../src/core/retries/retry-policy.ts";

const TARGET = { provider: "vendor", account: "one", model: "m" };
const REFUSAL = new ProviderError("invalid_request", "no", { status: 400 });

function begin() {
  const clock = { now: 1_000 };
  const budget = new RetryBudget(() => clock.now);
  budget.beginAttempt(TARGET);
  return { clock, budget };
}

describe("the budget of a request's retries", () => {
  it("grants each kind as often as the policy allows, separately for each call, account and model", () => {
    const { budget } = begin();
    expect(budget.take("token", REFUSAL)).toBe(true);
    expect(budget.take("token", REFUSAL)).toBe(false);
    budget.beginScope("call");
    expect(budget.take("token", REFUSAL)).toBe(true);
    expect(budget.take("answer", REFUSAL)).toBe(true);
    expect(budget.take("answer", REFUSAL)).toBe(false);
    expect(budget.take("answer_account", REFUSAL)).toBe(true);
    budget.beginAttempt({ ...TARGET, account: "two" });
    expect(budget.take("answer", REFUSAL)).toBe(true);
    expect(budget.take("answer_account", REFUSAL)).toBe(false);
    budget.beginScope("model");
    expect(budget.take("answer_account", REFUSAL)).toBe(true);
  });

  it("grants no more accounts than the setting allows", () => {
    const { budget } = begin();
    expect([1, 2, 3].map(() => budget.take("account", REFUSAL, 2))).toEqual([true, true, false]);
  });

  it("ends after a number of attempts that reached a provider, of any kind", () => {
    const { budget } = begin();
    for (let attempts = 1; attempts < MAX_ATTEMPTS; attempts += 1) {
      expect(budget.take("account", REFUSAL)).toBe(true);
      budget.beginAttempt(TARGET);
    }
    expect(budget.take("account", REFUSAL)).toBe(false);
    expect(budget.take("model", REFUSAL)).toBe(false);
    expect(budget.attempts.length).toBeLessThan(MAX_ATTEMPTS);
  });

  it("does not count accounts that failed before the request reached the provider", () => {
    const { budget } = begin();
    for (let tried = 0; tried < 3 * MAX_ATTEMPTS; tried += 1) {
      expect(budget.take("unusable_account", REFUSAL)).toBe(true);
      budget.beginAttempt(TARGET);
    }
  });

  it("grants no more retries than the caller allows, but still adapts a call", () => {
    const budget = new RetryBudget(() => 1_000, 1);
    // No account was free, so no attempt was made.
    expect(budget.take("model", REFUSAL)).toBe(true);
    budget.beginAttempt(TARGET);
    expect(budget.take("token", REFUSAL)).toBe(true);
    expect(budget.take("refused_field", REFUSAL)).toBe(true);
    expect(budget.take("unusable_account", REFUSAL)).toBe(true);
    budget.beginAttempt(TARGET);
    expect(budget.take("answer", REFUSAL)).toBe(true);
    expect(budget.take("account", REFUSAL)).toBe(false);
    expect(budget.take("model", REFUSAL)).toBe(false);
    expect(budget.take("format", REFUSAL)).toBe(false);
  });

  it("makes no second attempt for a caller that wants none", () => {
    const budget = new RetryBudget(() => 1_000, 0);
    budget.beginAttempt(TARGET);
    expect(budget.take("account", REFUSAL, 2)).toBe(false);
  });

  it("ends after a maximum time", () => {
    const { budget, clock } = begin();
    clock.now += MAX_RETRY_TIME_MS;
    expect(budget.take("account", REFUSAL)).toBe(false);
  });

  it("lists each attempt with its account, duration and reason", () => {
    const { budget, clock } = begin();
    clock.now += 5;
    budget.take("refused_field", REFUSAL);
    clock.now += 20;
    budget.take("account", new ProviderError("rate_limited", "later", { status: 429 }));
    budget.beginAttempt({ ...TARGET, account: "two" });
    clock.now += 7;
    budget.endAttempt(null);
    budget.endAttempt(REFUSAL);
    expect(budget.attempts).toEqual([
      { ...TARGET, cause: "", at: 1_000, ms: 5, status: 400, reason: "invalid_request" },
      { ...TARGET, cause: "refused_field", at: 1_005, ms: 20, status: 429, reason: "rate_limited" },
      { ...TARGET, account: "two", cause: "account", at: 1_025, ms: 7, status: 0, reason: "" },
    ]);
  });
});
