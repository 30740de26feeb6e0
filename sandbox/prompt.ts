/** The parsed prompt: the last user message, and the tool results after it. */
export interface ParsedPrompt {
  /** Text of the last `### User` section, or the whole prompt if it has no such line. */
  readonly user: string;
  /** Whether the prompt has a `### User` line. */
  readonly hasUserHeading: boolean;
  /** Text of each `### Tool result` section after that message, without the heading line. */
  readonly toolResults: readonly string[];
  /** Everything before the last user message: instructions, tools, history. */
  readonly before: string;
}

const HEADING = /^### (?:System|User|Assistant|Tool result)(?: \(.*\))?[ \t]*$/gm;

/** Parses a rendered conversation. Only the listed headings split it, so users may write other headings. */
export function parsePrompt(prompt: string): ParsedPrompt {
  const sections = [...prompt.matchAll(HEADING)].map((match, index, all) => ({
    heading: match[0],
    start: match.index,
    text: prompt.slice(match.index + match[0].length, all[index + 1]?.index ?? prompt.length).trim(),
  }));
  const last = sections.findLastIndex((section) => section.heading.startsWith("### User"));
  const user = sections[last];
  if (user === undefined)
    return { user: prompt.trim(), hasUserHeading: false, toolResults: [], before: prompt };
  const toolResults = sections
    .slice(last + 1)
    .filter((section) => section.heading.startsWith("### Tool result"))
    .map((section) => section.text);
  return { user: user.text, hasUserHeading: true, toolResults, before: prompt.slice(0, user.start) };
}
