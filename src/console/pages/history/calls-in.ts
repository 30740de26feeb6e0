/** Matches the wrapper of tool calls in an upstream text, in all spellings. */
const WRAPPER = /<[^<>]{0,40}tool_calls\s*>[\s\S]*?(?:<\/[^<>]{0,40}tool_calls\s*>|$)/gi;

/** Returns the raw tool-call markup in an upstream text; empty if there is none. */
export function callsIn(text: string): string {
  return (text.match(WRAPPER) ?? []).join("\n\n");
}
