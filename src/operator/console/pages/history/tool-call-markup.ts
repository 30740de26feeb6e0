/** Matches the wrapper of tool calls in an upstream text, in all spellings. */
const TOOL_CALLS_PATTERN = /<[^<>]{0,40}tool_calls\s*>[\s\S]*?(?:<\/[^<>]{0,40}tool_calls\s*>|$)/gi;

/** Returns the raw tool-call markup in an upstream text; empty if there is none. */
export function extractToolCallMarkup(text: string): string {
  return (text.match(TOOL_CALLS_PATTERN) ?? []).join("\n\n");
}
