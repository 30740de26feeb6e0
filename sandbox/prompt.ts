/** What the sandbox reads in a prompt: the last user message, and the tool results that came after it. */
export interface PromptReading {
  /** The text of the last `### User` section, or the whole prompt when it has no such line. */
  readonly user: string;
  /** True when the prompt has a `### User` line. */
  readonly marked: boolean;
  /** The text of each `### Tool result` section after that message, heading line left out. */
  readonly toolResults: readonly string[];
  /** Everything before the last user message: instructions, tools, history. */
  readonly before: string;
}

const HEADING = /^### (?:System|User|Assistant|Tool result)(?: \(.*\))?[ \t]*$/gm;

/**
 * Reads a rendered conversation. Only the listed headings divide it, so a user may write headings of their own.
 */
export function readPrompt(prompt: string): PromptReading {
  const sections = [...prompt.matchAll(HEADING)].map((match, index, all) => ({
    heading: match[0],
    start: match.index,
    text: prompt.slice(match.index + match[0].length, all[index + 1]?.index ?? prompt.length).trim(),
  }));
  const last = sections.findLastIndex((section) => section.heading.startsWith("### User"));
  const user = sections[last];
  if (user === undefined) return { user: prompt.trim(), marked: false, toolResults: [], before: prompt };
  const toolResults = sections
    .slice(last + 1)
    .filter((section) => section.heading.startsWith("### Tool result"))
    .map((section) => section.text);
  return { user: user.text, marked: true, toolResults, before: prompt.slice(0, user.start) };
}
