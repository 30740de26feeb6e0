import { BACKSLASH, BACKTICK, NEWLINE, nextMarked, OPENER, UNITS } from "./characters.ts";
import { HOLD } from "./grammar.ts";
import type { Input } from "./input.ts";
import type { Markdown } from "./markdown.ts";
import type { Output } from "./output.ts";
import { MAX_OPENERS, readTag, type Tag } from "./tags.ts";

const LESS = 0x3c;
const TEXT_MARKS = OPENER | BACKTICK | NEWLINE | BACKSLASH;

/** Where in a run of `<` a tag could begin at the earliest. */
function lastOpeners(text: string, at: number): number {
  let end = at;
  while (text.charCodeAt(end) === LESS) end++;
  return Math.max(at, end - MAX_OPENERS);
}

/**
 * Passes text on up to the next tag outside code that is accepted, and returns that tag; the input then stands before it. Returns
 * undefined when all is read but what may still become a tag.
 * @param accepts Whether a tag matters, given its position in the whole text.
 */
export function passText(
  input: Input,
  output: Output,
  markdown: Markdown,
  accepts: (tag: Tag, offset: number) => boolean,
): Tag | undefined {
  const { text, at, final } = input;
  const base = input.offset - at;
  let index = at;
  while (index < text.length) {
    if (markdown.plain) {
      index = nextMarked(text, index, TEXT_MARKS);
      if (index === text.length) break;
    } else if (markdown.fencedLine) {
      index = text.indexOf("\n", index);
      if (index < 0) break;
    }
    const unit = text.charCodeAt(index);
    if (UNITS[unit] === OPENER) {
      markdown.settle();
      const tag = markdown.fenced ? "none" : readTag(text, index, HOLD, final);
      if (tag === "partial" || (tag !== "none" && accepts(tag, base + index))) {
        output.text(text.slice(at, index));
        input.at = index;
        return tag === "partial" ? undefined : tag;
      }
    }
    markdown.step(unit);
    index++;
    if (unit === LESS && text.charCodeAt(index) === LESS) index = lastOpeners(text, index);
  }
  output.text(text.slice(at));
  input.at = text.length;
  return undefined;
}
