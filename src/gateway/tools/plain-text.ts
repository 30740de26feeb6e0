import { findFlagged, UNIT_FLAGS } from "./characters.ts";
import type { EventOutput } from "./event-output.ts";
import { MAX_TEXT_TAG_LENGTH } from "./grammar.ts";
import type { InputBuffer } from "./input-buffer.ts";
import type { MarkdownTracker } from "./markdown-tracker.ts";
import { MAX_OPENERS, readTag, type Tag } from "./tags.ts";
import { BACKSLASH_FLAG, BACKTICK_FLAG, LESS, LINE_FEED_FLAG, OPENER_FLAG } from "./units.ts";

const TEXT_MARKS = OPENER_FLAG | BACKTICK_FLAG | LINE_FEED_FLAG | BACKSLASH_FLAG;

/** The first position in a run of `<` at which a tag could begin. */
function lastOpeners(text: string, at: number): number {
  let end = at;
  while (text.charCodeAt(end) === LESS) end++;
  return Math.max(at, end - MAX_OPENERS);
}

/**
 * Passes text to the output up to the next accepted tag outside code, and returns that tag; the input then is positioned
 * before it. Returns undefined when everything is read except an incomplete tag.
 * @param accepts Whether a tag affects the state, given its offset in the whole text.
 */
export function passText(
  input: InputBuffer,
  output: EventOutput,
  markdown: MarkdownTracker,
  accepts: (tag: Tag, offset: number) => boolean,
): Tag | undefined {
  const { text, at, isFinal } = input;
  const base = input.offset - at;
  let index = at;
  while (index < text.length) {
    if (markdown.isPlainText) {
      index = findFlagged(text, index, TEXT_MARKS);
      if (index === text.length) break;
    } else if (markdown.isFencedLine) {
      index = text.indexOf("\n", index);
      if (index < 0) break;
    }
    const unit = text.charCodeAt(index);
    if (UNIT_FLAGS[unit] === OPENER_FLAG) {
      markdown.resolvePending();
      const tag = markdown.isInFence ? "none" : readTag(text, index, MAX_TEXT_TAG_LENGTH, isFinal);
      if (tag === "partial" || (tag !== "none" && accepts(tag, base + index))) {
        output.addText(text.slice(at, index));
        input.at = index;
        return tag === "partial" ? undefined : tag;
      }
    }
    markdown.step(unit);
    index++;
    if (unit === LESS && text.charCodeAt(index) === LESS) index = lastOpeners(text, index);
  }
  output.addText(text.slice(at));
  input.at = text.length;
  return undefined;
}
