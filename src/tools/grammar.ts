import type { Tag } from "./tags.ts";

/** The longest tag recognized in text, and so the most text held back outside calls, in UTF-16 units. */
export const HOLD = 128;
/** The longest tag within a call, in UTF-16 units. */
export const TAG_LIMIT = 1024;
/** Most unexpected text within an invoke, in UTF-16 units. */
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
