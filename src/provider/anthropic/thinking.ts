import { budgetFor, LEAST } from "../effort.ts";

/** Answer tokens if the caller gives no limit (contract, Limits). The protocol requires a limit. */
const DEFAULT_LIMIT = 8192;

/** The token limit of an answer, and the part of it for thinking. */
export interface Room {
  readonly limit: number;
  /** Tokens of the limit that thinking may use; null: no thinking, or too few tokens for it. */
  readonly budget: number | null;
}

/**
 * Tokens of a limit that thinking may use: at most half, so that tokens remain for the answer. 0: half is below the
 * minimum.
 */
export function thinkingShare(limit: number): number {
  const half = Math.floor(limit / 2);
  return half < LEAST ? 0 : half;
}

/** The thinking that the caller requests: a budget in tokens, or else an effort; null: none. */
export type ThinkingWish = { readonly budget?: number; readonly effort?: string } | null;

/**
 * Divides the token limit between thinking and answer. Without a limit of the caller, the thinking budget is added to
 * the default limit, up to `most` (the model's maximum). A budget of the caller may use the whole limit except for the
 * one token that the protocol requires for the answer.
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
