import type { Part } from "../conversation/conversation.ts";

/** Joins texts with a blank line between them. Omits empty texts. */
export function paragraphs(...texts: readonly string[]): string {
  return joined(texts);
}

/** Like {@link paragraphs}, for any number of texts: a function call is limited in its arguments. */
export function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join("\n\n");
}

/** Joins the text parts as paragraphs, which preserves the caller's division. */
export function textOf(parts: readonly Part[]): string {
  return joined(parts.map((part) => (part.type === "text" ? part.text : "")));
}

/** Renders a text file inside a message. */
export function fileAsText(filename: string, text: string): string {
  return `[File ${filename}]\n${text}\n[End of file ${filename}]`;
}
