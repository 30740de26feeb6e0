/** The least that the protocol accepts. */
const LEAST_BUDGET = 1024;

const LOW = 2048;
const MEDIUM = 8192;
const HIGH = 16_384;

/** The tokens that the model may think for, by the effort that the caller asks for. */
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: LEAST_BUDGET,
  low: LOW,
  medium: MEDIUM,
  high: HIGH,
  xhigh: HIGH,
  max: HIGH,
};

/** The effort that a budget stands for, for models that have no budgets. */
export function effortFor(budget: number): "low" | "medium" | "high" {
  if (budget <= LOW) return "low";
  return budget < HIGH ? "medium" : "high";
}

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
  return half < LEAST_BUDGET ? 0 : half;
}

/** Divides the caller's limit between thinking and answer. Where there is none, thinking is not at the answer's expense. */
export function roomFor(limit: number | undefined, thinks: boolean, effort: string | undefined): Room {
  const wanted = thinks ? (BUDGETS[effort ?? "medium"] ?? MEDIUM) : 0;
  const whole = limit === undefined ? DEFAULT_LIMIT + wanted : Math.max(1, Math.floor(limit));
  const budget = Math.min(wanted, limit === undefined ? wanted : thinkingShare(whole));
  return { limit: whole, budget: budget === 0 ? null : budget };
}
