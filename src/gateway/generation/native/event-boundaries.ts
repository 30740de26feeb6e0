/*
 * Where the events of a provider's event stream end. Events end with a blank line; line breaks are LF, CR or CR LF.
 */

export const LF = 0x0a;
export const CR = 0x0d;

/** The line break after an event, and the blank line: also as two line breaks of other kinds. */
const EVENT_END = /\r\n\r\n|\n\r?\n|\r\r/g;

/** The index after the last complete event; 0: there is none. */
export function endOfEvents(bytes: Uint8Array): number {
  for (let index = bytes.length - 1; index > 0; index -= 1) {
    const byte = bytes[index];
    const before = bytes[index - 1];
    if (byte === LF && (before === LF || (before === CR && bytes[index - 2] === LF))) return index + 1;
    if (byte === CR && before === CR) return index + 1;
  }
  return 0;
}

/** Whether the last event of `bytes` is complete. */
export function endsWithBlankLine(bytes: Uint8Array): boolean {
  const last = bytes[bytes.length - 1];
  return (last === LF || last === CR) && endOfEvents(bytes) === bytes.length;
}

/** The end of the event that begins at `start`, and the beginning of the next event. */
export function findEventEnd(
  text: string,
  start: number,
  hasCarriageReturns: boolean,
): { at: number; after: number } {
  if (!hasCarriageReturns) {
    const at = text.indexOf("\n\n", start);
    return at === -1 ? { at: text.length, after: text.length } : { at, after: at + 2 };
  }
  EVENT_END.lastIndex = start;
  const match = EVENT_END.exec(text);
  return match === null
    ? { at: text.length, after: text.length }
    : { at: match.index, after: match.index + match[0].length };
}
