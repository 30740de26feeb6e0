/** Matches the wrapper of tool calls in an upstream text, in all spellings. The end of a preview may cut a tag off. */
const TOOL_CALLS_PATTERN =
  /<[^<>]{0,40}tool_calls\s{0,8}(?:>[\s\S]*?(?:<\/[^<>]{0,40}tool_calls\s{0,8}>|$)|$)/gi;

/** Matches the beginning of a call up to the end of its function's name. */
const CALL_PATTERN =
  /<[^<>]{0,40}invoke[^<>=]{1,8}name\s{0,4}=\s{0,4}["'“”＂]?([^\s<>"'“”＂]{1,128})(?=[\s>"'“”＂])/gi;

/** Returns the raw tool-call markup in an upstream text; empty if there is none. */
export function extractToolCallMarkup(text: string): string {
  return (text.match(TOOL_CALLS_PATTERN) ?? []).join("\n\n");
}

/** The members of a record that say how its answer ended. */
export interface AnswerEnd {
  readonly finish_reason: string;
  /** Absent in older records: then only calls in the text have names. */
  readonly called_functions?: readonly string[] | undefined;
}

/** An upstream text without its tool calls, and what they call. */
export interface SeparatedAnswer {
  readonly text: string;
  /** Whether it calls tools. Calls in a provider's native form are not in the text. */
  readonly hasCalls: boolean;
  /** The called functions, each once, as far as they are known. */
  readonly functions: readonly string[];
}

/** Separates an upstream text, or its beginning, from its tool calls. */
export function separateToolCalls(
  text: string,
  { finish_reason, called_functions: functions = [] }: AnswerEnd,
): SeparatedAnswer {
  const markup = extractToolCallMarkup(text);
  // An answer that ended with `stop` called nothing: its markup is a text about markup.
  const mayCall = markup !== "" || finish_reason === "tool_calls";
  if (functions.length === 0 && (finish_reason === "stop" || !mayCall))
    return { text, hasCalls: false, functions };
  const names = Array.from(markup.matchAll(CALL_PATTERN), ([, name = ""]) => name);
  return {
    text: text.replace(TOOL_CALLS_PATTERN, " ").trim(),
    hasCalls: true,
    functions: functions.length > 0 ? functions : [...new Set(names)],
  };
}
