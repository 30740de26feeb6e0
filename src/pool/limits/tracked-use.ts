import {
  type LimitedSubject,
  type LimitedUse,
  type LimitRefusal,
  parseSubject,
  type RateWindowState,
  type SpentAmounts,
} from "../../core/ports/subject-limits.ts";
import type { Counted } from "./rolling-minute.ts";
import type { SubjectMeter } from "./subject-meter.ts";
import type { StoredUse } from "./use-store.ts";

/** What one request counts for one subject. */
export interface CountedPart {
  readonly meter: SubjectMeter;
  readonly counted: Counted;
}

/** One request with limits. */
export interface TrackedUse {
  readonly id: string;
  /** One for each subject. */
  parts: readonly CountedPart[];
  /** When it was admitted, Unix milliseconds. */
  admittedAt: number;
  /** When it began; 0: it is waiting. */
  begunAt: number;
  /** The reserved amounts. `settle` lowers them to the real use if that is smaller. */
  tokens: number;
  cost: number;
  /** The real use beyond the reservation. */
  extraTokens: number;
  extraCost: number;
  /** When it ended; 0: it has not. */
  endedAt: number;
  /** Whether its real use is known. */
  settled: boolean;
  /** Number of slots that it occupies. */
  slots: number;
  /** When it counts as ended if no report follows; `Infinity` while it occupies a slot or waits. */
  expiresAt: number;
  stored: boolean;
}

/** A request that is admitted at `now` (Unix milliseconds). It counts for no subject yet. */
export function createUse(
  { id, tokens, cost }: Pick<LimitedUse, "id" | "tokens" | "cost">,
  now: number,
): TrackedUse {
  return {
    id,
    parts: [],
    admittedAt: now,
    begunAt: 0,
    tokens,
    cost,
    extraTokens: 0,
    extraCost: 0,
    endedAt: 0,
    settled: false,
    slots: 0,
    expiresAt: Number.POSITIVE_INFINITY,
    stored: false,
  };
}

/** The row that stores a request. */
export function toStoredUse(use: TrackedUse): StoredUse {
  const { id, parts, begunAt: at, tokens, cost, extraTokens, extraCost, endedAt: ended, settled } = use;
  const [subject = "", ...others] = parts.map(({ meter }) => meter.subject);
  return { id, subject, others, at, tokens, cost, extraTokens, extraCost, ended, settled };
}

/** Whether the request has begun, so that its minute passes. */
export const hasBegun = ({ at }: Counted): boolean => at !== Number.POSITIVE_INFINITY;

/**
 * Why another request is not allowed; null: it is. Every meter is advanced to `now`.
 *
 * @param expected null: the request costs nothing
 */
export function checkAll(
  subjects: readonly LimitedSubject[],
  meters: readonly SubjectMeter[],
  expected: SpentAmounts | null,
  now: number,
): LimitRefusal | null {
  for (const meter of meters) meter.roll(now);
  for (const [index, { key: subject, limits }] of subjects.entries()) {
    const refusal = meters[index]?.checkLimits(limits, expected, now) ?? null;
    if (refusal !== null) return parseSubject(subject).kind === "key" ? refusal : { ...refusal, subject };
  }
  return null;
}

/** From when the request counts towards its day and month, Unix milliseconds. */
export const getCountingStart = ({ admittedAt, begunAt }: TrackedUse): number => begunAt || admittedAt;

/** Counts a request for one subject. */
export function countPart(use: TrackedUse, meter: SubjectMeter, isRunning = true): CountedPart {
  meter.addSpent(getCountingStart(use), use);
  if (isRunning) meter.parallel += 1;
  return { meter, counted: meter.minute.reserve(1, use.tokens) };
}

/** A request no longer counts for a subject: only the attempt counts in its minute. */
export function leavePart(use: TrackedUse, { meter, counted }: CountedPart): void {
  if (hasBegun(counted)) meter.minute.change(counted, 0, -counted.tokens);
  else meter.minute.drop(counted);
  meter.addSpent(getCountingStart(use), { tokens: -use.tokens, cost: -use.cost });
  if (use.endedAt === 0) meter.parallel -= 1;
}

/** The window with less left. */
export function selectTighterWindow(
  a: RateWindowState | null,
  b: RateWindowState | null,
): RateWindowState | null {
  if (a === null || b === null) return a ?? b;
  return b.remaining < a.remaining ? b : a;
}
