import { expect, test } from "vitest";
import { formatDuration } from "../../../../src/core/routing/limit-headers.ts";

test.each([
  [0, "0s"],
  [1, "1ms"],
  [999, "999ms"],
  [1_500, "1.5s"],
  [60_000, "1m0s"],
  [83_250, "1m23.25s"],
])("writes %i ms as %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
