/** One section of a rendered conversation: a heading line, then text. */
export interface Section {
  /** Without the leading `### `: `System`, `User`, `Assistant` or `Tool result`, with details in parentheses. */
  readonly heading: string;
  readonly text: string;
}

/** Matches a line like those of {@link joinSections}. Inside a text such a line would start a new section. */
const HEADING_LINE = /^(?=### (?:System|User|Assistant|Tool result)(?: \(.*\))?[ \t]*$)/gm;

/**
 * Escapes lines that look exactly like a section heading with a backslash, which is Markdown's literal `#`, so that a
 * text cannot imitate sections. Other text, including the caller's own headings, stays unchanged.
 */
export function withoutHeadings(text: string): string {
  return text.includes("### ") ? text.replace(HEADING_LINE, "\\") : text;
}

/** Renders a heading with details in parentheses. Omits empty details, and removes parentheses and line breaks from them. */
export function heading(role: string, ...details: readonly (string | undefined)[]): string {
  const shown = details
    .map((detail) => (detail ?? "").replace(/[\s()]+/g, " ").trim())
    .filter((detail) => detail !== "");
  return shown.length === 0 ? role : `${role} (${shown.join(", ")})`;
}

/** Joins sections with blank lines between them. */
export function joinSections(sections: readonly Section[]): string {
  return sections
    .map((section) =>
      section.text === "" ? `### ${section.heading}` : `### ${section.heading}\n\n${section.text}`,
    )
    .join("\n\n");
}
