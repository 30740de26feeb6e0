import type { Tag } from "./tags.ts";

/** The longest tag recognized in text, in UTF-16 units. It limits the text that is buffered outside calls. */
export const MAX_TEXT_TAG_LENGTH = 128;
/** The longest tag within a call, in UTF-16 units. */
export const MAX_CALL_TAG_LENGTH = 1024;
/** Most unexpected text within an invoke, in UTF-16 units. */
export const MAX_UNEXPECTED_TEXT = 1024;

function isNamed(tag: Tag): boolean {
  return !tag.isClosing && tag.name !== undefined && tag.name !== "";
}

export function isInvokeOpening(tag: Tag): boolean {
  return tag.kind === "invoke" && isNamed(tag);
}

export function isParameterOpening(tag: Tag): boolean {
  return tag.kind === "parameter" && isNamed(tag);
}

export function isClosing(tag: Tag, kind: Tag["kind"]): boolean {
  return tag.kind === kind && tag.isClosing;
}
