import { expect, it } from "vitest";
import type { Usage } from "../../../../src/core/conversation/events.ts";
import {
  addUsage,
  readUsageDetails,
  toUsageDetails,
  USAGE_COUNTS,
  USAGE_DETAILS,
} from "../../../../src/core/conversation/usage-details.ts";
import { USAGE_SUMS } from "../../../../src/core/ports/usage.ts";
import { parseSums } from "../../../../src/records/usage/reader.ts";

// The compiler demands every count in the objects, but not in the lists.

it("the sum of two usages has each count that reports have", () => {
  const none: Usage = { prompt: 0, completion: 0, reasoning: 0 };
  const counts = Object.fromEntries(USAGE_COUNTS.map((name) => [name, 4]));
  const details = toUsageDetails(addUsage(none, { ...none, ...counts, cacheWritten1h: 2 }));
  expect(Object.entries(details).filter(([, count]) => count === 0)).toEqual([]);
});

it("the list of details has each detail of a usage", () => {
  expect(USAGE_DETAILS.toSorted()).toEqual(Object.keys(readUsageDetails({})).sort());
});

it("the list of stored totals has each total", () => {
  expect(USAGE_SUMS.toSorted()).toEqual(Object.keys(parseSums(undefined)).sort());
});
