const NAMED: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
};
const ENTITY = /^&(?:#[xX]([0-9a-fA-F]{1,6})|#([0-9]{1,7})|(lt|gt|amp|quot|apos|nbsp));/;
const PREFIX =
  /^&(?:#(?:[xX][0-9a-fA-F]{0,6}|[0-9]{0,7})?|l(?:t)?|g(?:t)?|a(?:m(?:p)?|p(?:o(?:s)?)?)?|q(?:u(?:o(?:t)?)?)?|n(?:b(?:s(?:p)?)?)?)?$/;

/** The longest entity, in UTF-16 units. */
const LONGEST = 10;

function fromCodePoint(code: number): string | undefined {
  if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return undefined;
  return String.fromCodePoint(code);
}

/** Reads the character reference at `at`; `none` if the `&` there is a plain character. */
export function readEntity(
  source: string,
  at: number,
  final: boolean,
): { text: string; end: number } | "partial" | "none" {
  const window = source.slice(at, at + LONGEST);
  const match = ENTITY.exec(window);
  if (!match) return !final && PREFIX.test(window) ? "partial" : "none";
  const [whole, hex, decimal, name] = match;
  const text =
    name === undefined ? fromCodePoint(Number.parseInt(hex ?? decimal ?? "", hex ? 16 : 10)) : NAMED[name];
  return text === undefined ? "none" : { text, end: at + whole.length };
}

/** Decodes all XML character references in a text. Other text stays unchanged. */
export function decodeEntities(text: string): string {
  let decoded = "";
  let from = 0;
  for (let at = text.indexOf("&"); at >= 0; at = text.indexOf("&", at + 1)) {
    const entity = readEntity(text, at, true);
    if (typeof entity === "string") continue;
    decoded += text.slice(from, at) + entity.text;
    from = entity.end;
    at = entity.end - 1;
  }
  return decoded + text.slice(from);
}
