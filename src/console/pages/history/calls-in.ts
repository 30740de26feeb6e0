/** The wrapper of tool calls in a provider's text, in whatever spelling. */
const WRAPPER = /<[^<>]{0,40}tool_calls\s*>[\s\S]*?(?:<\/[^<>]{0,40}tool_calls\s*>|$)/gi;

/** The tool-call markup in an upstream's text, as it came; empty when there is none. */
export function callsIn(text: string): string {
  return (text.match(WRAPPER) ?? []).join("\n\n");
}
