/** Tokens for thinking that efforts stand for. */
export const LOW = 2048;
export const MEDIUM = 8192;
export const HIGH = 16_384;

/** The effort that a budget of tokens stands for, for models that have no budgets. */
export function effortFor(budget: number): "low" | "medium" | "high" {
  if (budget <= LOW) return "low";
  return budget < HIGH ? "medium" : "high";
}
