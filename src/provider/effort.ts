/** Tokens for thinking that efforts stand for. */
export const LEAST = 1024;
const LOW = 2048;
const MEDIUM = 8192;
const HIGH = 16_384;

/** The tokens that an effort stands for; an unknown one for as many as `medium`. */
export function budgetFor(effort: string): number {
  switch (effort) {
    case "minimal":
      return LEAST;
    case "low":
      return LOW;
    case "high":
    case "xhigh":
    case "max":
      return HIGH;
  }
  return MEDIUM;
}

/** The effort that a budget of tokens stands for, for models that have no budgets. */
export function effortFor(budget: number): "low" | "medium" | "high" {
  if (budget <= LOW) return "low";
  return budget < HIGH ? "medium" : "high";
}
