import type { Tag } from "./tags.ts";

/** The longest tag that is looked for in text, and so the most text that is held back outside calls, in UTF-16 units. */
export const HOLD = 128;
/** A tag within a call may be this long, in UTF-16 units. */
export const TAG_LIMIT = 1024;
/** How much that does not belong there may stand within an invoke, in UTF-16 units. */
export const MAX_GARBAGE = 1024;

function isNamed(tag: Tag): boolean {
  return !tag.close && tag.name !== undefined && tag.name !== "";
}

export function opensInvoke(tag: Tag): boolean {
  return tag.kind === "invoke" && isNamed(tag);
}

export function opensParameter(tag: Tag): boolean {
  return tag.kind === "parameter" && isNamed(tag);
}

export function closes(tag: Tag, kind: Tag["kind"]): boolean {
  return tag.kind === kind && tag.close;
}
