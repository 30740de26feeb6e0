/** One part of a rendered conversation: a heading line, then text. */
export interface Section {
  /** Without the leading `### `: `System`, `User`, `Assistant` or `Tool result`, with details in brackets. */
  readonly heading: string;
  readonly text: string;
}

/** A line that {@link joinSections} could have written: such a line within a text would begin a section of its own. */
const HEADING_LINE = /^(?=### (?:System|User|Assistant|Tool result)(?: \(.*\))?[ \t]*$)/gm;

/**
 * A text that cannot pass for several sections: a line that looks exactly like a heading gets a backslash, which is how
 * Markdown writes a literal `#`. Every other text is untouched, headings of a caller's own included.
 */
export function withoutHeadings(text: string): string {
  return text.includes("### ") ? text.replace(HEADING_LINE, "\\") : text;
}

/** A heading with details in brackets; details that are empty are left out, and brackets and line ends in them too. */
export function heading(role: string, ...details: readonly (string | undefined)[]): string {
  const shown = details
    .map((detail) => (detail ?? "").replace(/[\s()]+/g, " ").trim())
    .filter((detail) => detail !== "");
  return shown.length === 0 ? role : `${role} (${shown.join(", ")})`;
}

/** The text that sections make; blank lines between them. */
export function joinSections(sections: readonly Section[]): string {
  return sections
    .map((section) =>
      section.text === "" ? `### ${section.heading}` : `### ${section.heading}\n\n${section.text}`,
    )
    .join("\n\n");
}
