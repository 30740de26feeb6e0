import { budgetFor, LEAST } from "../effort.ts";

/** Tokens of an answer to a caller who gives no limit (contract, Limits); the protocol demands one. */
const DEFAULT_LIMIT = 8192;

/** How long an answer may become. */
export interface Room {
  readonly limit: number;
  /** How many tokens of the limit are for thinking; null: too few are left for that. */
  readonly budget: number | null;
}

/** How much of a limit thinking may use, at most half: a limit that it uses up leaves nothing to read. 0: too little. */
export function thinkingShare(limit: number): number {
  const half = Math.floor(limit / 2);
  return half < LEAST ? 0 : half;
}

/** What the caller wants of thinking: a budget in tokens, or else an effort; null: none. */
export type ThinkingWish = { readonly budget?: number; readonly effort?: string } | null;

/**
 * Divides the caller's limit between thinking and answer. Where there is none, thinking is not at the answer's expense. A
 * budget of the caller's own may use all but what the protocol leaves for the answer.
 */
export function roomFor(
  limit: number | undefined,
  wish: ThinkingWish,
  most = Number.POSITIVE_INFINITY,
): Room {
  const wanted = wish === null ? 0 : wantedBudget(wish);
  if (limit === undefined) {
    if (DEFAULT_LIMIT + wanted > most) return roomFor(most, wish);
    return { limit: DEFAULT_LIMIT + wanted, budget: wanted || null };
  }
  const whole = Math.max(1, Math.floor(limit));
  if (wish?.budget !== undefined && wanted < whole) return { limit: whole, budget: wanted };
  return { limit: whole, budget: Math.min(wanted, thinkingShare(whole)) || null };
}

function wantedBudget({ budget, effort }: NonNullable<ThinkingWish>): number {
  if (budget !== undefined) return Math.max(LEAST, Math.floor(budget));
  return budgetFor(effort ?? "medium");
}
