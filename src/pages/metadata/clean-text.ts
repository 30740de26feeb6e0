import type { ChildNode, Element } from "domhandler";

/** Maximum nodes to visit for the text of one element: longer ones are no names or dates. */
const MAX_NODES = 60;

/** Elements whose content is not part of the page, or is visible only without scripts. */
export const SKIPPED_ELEMENTS: ReadonlySet<string> = new Set([
  ...["svg", "math", "template", "noscript", "iframe", "script", "style"],
]);

/** The text with collapsed white space, truncated to a length; null if it is empty. */
export function cleanText(text: string, maxLength: number): string | null {
  return (
    text
      .slice(0, 4 * maxLength)
      .replace(/\s+/g, " ")
      .trim()
      .slice(0, maxLength)
      .trimEnd() || null
  );
}

/** The text of an element with collapsed white space; null if it is empty, longer than `maxLength` or of many elements. */
export function shortText(element: Element, maxLength: number): string | null {
  const stack: ChildNode[] = [...element.children].reverse();
  let text = "";
  for (let visited = 0; visited < MAX_NODES; visited++) {
    const node = stack.pop();
    if (node === undefined) return text.length > 4 * maxLength ? null : fittingText(text, maxLength);
    if (node.type === "text") text += node.data.slice(0, 5 * maxLength);
    else if ("attribs" in node && !SKIPPED_ELEMENTS.has(node.name)) {
      if (node.children.length > MAX_NODES) return null;
      stack.push(...[...node.children].reverse());
    }
  }
  return null;
}

function fittingText(text: string, maxLength: number): string | null {
  const clean = cleanText(text, maxLength + 1);
  return clean !== null && clean.length <= maxLength ? clean : null;
}

/** The first of a list of language tags; null if it does not look like a tag. */
export function firstLanguageTag(text: string | undefined): string | null {
  const tag = text?.split(",")[0]?.trim() ?? "";
  return /^[a-z]{1,8}(?:[-_][a-z0-9]{1,8}){0,4}$/i.test(tag) ? tag : null;
}
