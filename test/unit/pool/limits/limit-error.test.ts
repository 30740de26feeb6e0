import { expect, it } from "vitest";
import type { LimitRefusal } from "../../../../src/core/ports/subject-limits.ts";
import { createLimitError } from "../../../../src/pool/limits/limit-error.ts";

const NOON = Date.UTC(2026, 10, 28, 12);

/** What the caller reads of a refusal that the pool made at noon, `lateMs` milliseconds later. */
function resetOf(refusal: Pick<LimitRefusal, "limit" | "resetMs">, lateMs: number): unknown {
  return createLimitError({ ...refusal, max: 10, used: 10 }, NOON + lateMs).details?.["resets_at"];
}

it.each([-40, 0, 1, 999, 5_000])("a budget is renewed exactly at midnight, read %i ms later", (lateMs) => {
  const day = { limit: "tokens_per_day", resetMs: 12 * 3_600_000 } as const;
  expect(resetOf(day, lateMs)).toBe("2026-11-29T00:00:00.000Z");
  const month = { limit: "cost_per_month", resetMs: Date.UTC(2026, 11, 1) - NOON } as const;
  expect(resetOf(month, lateMs)).toBe("2026-12-01T00:00:00.000Z");
});

it("a minute has room again at a full second, not too early", () => {
  expect(resetOf({ limit: "requests_per_minute", resetMs: 1_500 }, 100)).toBe("2026-11-28T12:00:02.000Z");
  expect(resetOf({ limit: "tokens_per_minute", resetMs: null }, 0)).toBeNull();
});
