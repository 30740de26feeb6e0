import type { UsageItem } from "../../api/usage.ts";

/** Most groups that are shown. */
const MAX_GROUPS = 5;

/** The groups with input tokens, those with the most first. */
export function selectCacheGroups(items: readonly UsageItem[]): UsageItem[] {
  return items
    .filter(({ prompt_tokens }) => prompt_tokens > 0)
    .sort((a, b) => b.prompt_tokens - a.prompt_tokens)
    .slice(0, MAX_GROUPS);
}
