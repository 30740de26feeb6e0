import type { GenerationOptions } from "../../../core/conversation/conversation.ts";

/** Thinking budgets in tokens for the named efforts. This is the smallest. */
export const MIN_THINKING_BUDGET = 1024;
const LOW = 2048;
const MEDIUM = 8192;
const HIGH = 16_384;

/** Converts an effort into a thinking budget in tokens. An unknown effort counts as `medium`. */
export function toThinkingBudget(effort: string): number {
  switch (effort) {
    case "minimal":
      return MIN_THINKING_BUDGET;
    case "low":
      return LOW;
    case "high":
    case "xhigh":
    case "max":
      return HIGH;
  }
  return MEDIUM;
}

/** Converts a thinking budget in tokens into an effort, for models without budgets. */
export function toEffort(budget: number): "low" | "medium" | "high" {
  if (budget <= LOW) return "low";
  return budget < HIGH ? "medium" : "high";
}

/** Returns the requested effort, for protocols without budgets: the nearest effort replaces a budget. */
export function selectEffort({
  reasoningEffort,
  thinkingBudget,
}: Pick<GenerationOptions, "reasoningEffort" | "thinkingBudget">): string | undefined {
  return reasoningEffort ?? (thinkingBudget === undefined ? undefined : toEffort(thinkingBudget));
}
