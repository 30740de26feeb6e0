import { expect, it } from "vitest";
import type { RequestUsage, UsageDelta, UsageMessage } from "../../../../src/core/ports/usage.ts";
import { UsageTally } from "../../../../src/records/usage/usage-tally.ts";
import { emptyConfig } from "../../../support/config.ts";
import { used } from "./support.ts";

/** The rows that are sent for these requests. */
async function rowsOf(requests: readonly RequestUsage[]): Promise<readonly UsageDelta[]> {
  const tally = new UsageTally();
  for (const request of requests) tally.count(request, 0);
  const messages: UsageMessage[] = [];
  const store = { write: async (message: UsageMessage) => void messages.push(message) };
  await tally.send(store, { config: emptyConfig() }, 0);
  return messages.flatMap(({ deltas }) => deltas);
}

it("counts requests for a model of the same name separately for each provider", async () => {
  const of = (provider: string) => used({ provider, model: "", account: "" });
  const rows = await rowsOf([of("one"), of("two"), of("two")]);
  expect(rows.map(({ dimensions, requests }) => [dimensions.provider, requests])).toEqual([
    ["one", 1],
    ["two", 2],
  ]);
});

it("merges the rows beyond the maximum into one with the model and the provider “other”", async () => {
  const requests = Array.from({ length: 2_100 }, (_, index) =>
    used({ provider: `provider-${index % 7}`, model: `model-${index}` }),
  );
  const rows = await rowsOf(requests);
  expect(rows.reduce((sum, row) => sum + row.requests, 0)).toBe(2_100);
  const merged = rows.filter((row) => row.requests > 1);
  expect(merged.map(({ dimensions }) => [dimensions.model, dimensions.provider])).toEqual([
    ["other", "other"],
  ]);
});

it("counts a failed attempt for the provider that failed, and the request for the one that answered", async () => {
  const failed = { provider: "one", account: "a", model: "one/m" };
  const rows = await rowsOf([used({ provider: "two", attempts: 3, failedAttempts: [failed, failed] })]);
  const counts = rows.map(({ dimensions, requests, attempts, provider_errors }) => [
    [dimensions.provider, dimensions.account, dimensions.outcome],
    [requests, attempts, provider_errors],
  ]);
  expect(counts).toContainEqual([
    ["two", "one@test", "success"],
    [1, 1, 0],
  ]);
  expect(counts).toContainEqual([
    ["one", "a", "error"],
    [0, 2, 2],
  ]);
  expect(counts).toHaveLength(2);
});
