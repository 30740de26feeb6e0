import type { Part } from "../conversation/conversation.ts";

/** Texts with a blank line between them; empty ones are left out. */
export function paragraphs(...texts: readonly string[]): string {
  return joined(texts);
}

/** The same for any number of texts: a call takes only so many arguments. */
export function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join("\n\n");
}

/** The text of several parts; the caller's own division of it shows as paragraphs. */
export function textOf(parts: readonly Part[]): string {
  return joined(parts.map((part) => (part.type === "text" ? part.text : "")));
}

/** A text file within a message. */
export function fileAsText(filename: string, text: string): string {
  return `[File ${filename}]\n${text}\n[End of file ${filename}]`;
}
