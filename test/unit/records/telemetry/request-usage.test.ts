import { describe, expect, test } from "vitest";
import type { RequestFacts } from "../../../../src/core/ports/request-outcome.ts";
import { toRequestUsage } from "../../../../src/records/telemetry/request-usage.ts";
import { createOutcome } from "../../../support/request-outcome.ts";

const CHAT = { dialect: "chat-completions", operation: "chat" } as const;

function use(status: number, facts: RequestFacts) {
  const used = toRequestUsage({ ...createOutcome({}), status, facts: { ...CHAT, ...facts } });
  return {
    outcome: used?.outcome,
    provider: used?.provider,
    isProviderError: used?.isProviderError ?? false,
  };
}

describe("an error counts", () => {
  test.each([
    ["without a key", 401, { error: "invalid_api_key" }],
    ["with a wrong value", 422, { error: "invalid_request" }],
    ["with a model that its key may not use", 403, { error: "permission_denied", model: "vendor/large" }],
    ["for an unknown model", 404, { error: "model_not_found", model: "unknown" }],
    ["for a disabled model", 404, { error: "model_not_found", model: "vendor/off" }],
  ])("at no provider if a request %s is refused", (_, status, facts) => {
    expect(use(status, facts)).toEqual({ outcome: "refused", provider: "", isProviderError: false });
  });

  test("at the provider that had no slot for the request, but not as its fault", () => {
    expect(use(429, { error: "rate_limit_exceeded", model: "gpt-4o" })).toEqual({
      outcome: "refused",
      provider: "default",
      isProviderError: false,
    });
  });

  test.each([
    [400, "invalid_request", false],
    [400, "context_length_exceeded", false],
    [404, "not_found", false],
    [422, "invalid_request", false],
    [401, "account_login_failed", true],
    [429, "upstream_rate_limited", true],
    [502, "upstream_error", true],
    [503, "model_unavailable", true],
    [504, "upstream_timeout", true],
    [500, "internal_error", false],
  ])("with status %i and code %s as the fault of the provider that was asked: %s", (status, error, fault) => {
    const facts = { model: "gpt-4o", attempts: 1, error };
    expect(use(status, facts)).toEqual({ outcome: "error", provider: "default", isProviderError: fault });
  });
});

test("the failure of the last attempt counts once", () => {
  const failed = { attempt: 2, provider: "default", account: "a", model: "m", code: "upstream_error" };
  const facts = { model: "m", error: "upstream_error" };
  const errorsOf = (attempts: number) =>
    use(503, { ...facts, attempts, failedAttempts: [failed] }).isProviderError;
  expect([errorsOf(2), errorsOf(3)]).toEqual([false, true]);
});
