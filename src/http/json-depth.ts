const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** The place of the quote that ends a string, from a place within it. */
function endOfString(json: string, from: number): number {
  for (let at = from; ; ) {
    const quote = json.indexOf('"', at);
    if (quote === -1) return json.length;
    let before = quote;
    while (json.charCodeAt(before - 1) === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 0) return quote;
    at = quote + 1;
  }
}

/** Whether arrays and objects of a JSON text, which must be valid, lie within each other more than `limit` levels deep. */
export function isDeeperThan(json: string, limit: number): boolean {
  // Each level takes two characters.
  if (json.length <= limit * 2) return false;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at + 1);
    else if (code === OPENING_BRACKET || code === OPENING_BRACE) {
      depth += 1;
      if (depth > limit) return true;
    } else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) depth -= 1;
  }
  return false;
}
