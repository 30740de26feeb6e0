import type { Part } from "../../../core/conversation/conversation.ts";

/** Joins texts with a blank line between them. Omits empty texts. */
export function joinParagraphs(...texts: readonly string[]): string {
  return joinParagraphList(texts);
}

/** Like {@link joinParagraphs}, for any number of texts: a function call is limited in its arguments. */
export function joinParagraphList(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join("\n\n");
}

/** Joins the text parts as paragraphs, which preserves the caller's division. */
export function joinTextParts(parts: readonly Part[]): string {
  return joinParagraphList(parts.map((part) => (part.type === "text" ? part.text : "")));
}

/** Renders a text file inside a message. */
export function renderTextFile(filename: string, text: string): string {
  return `[File ${filename}]\n${text}\n[End of file ${filename}]`;
}
