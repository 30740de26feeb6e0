import {
  AMPERSAND_FLAG,
  BACKSLASH,
  BACKSLASH_FLAG,
  BACKTICK,
  BACKTICK_FLAG,
  BRACKET_FLAG,
  LINE_FEED,
  LINE_FEED_FLAG,
  OPENER_FLAG,
  RETURN,
  SPACE,
  TAB,
} from "./units.ts";

/**
 * Look-alike characters in tool markup, which models write in place of the ASCII ones. A tag candidate is read through
 * `foldToAscii`, which maps every look-alike to its ASCII character. Text and values are never folded.
 */

/** Characters that stand for `<`. */
const OPENERS = "<＜﹤〈〈⟨‹《⟪˂ᐸ❬❮❰";
const CLOSERS = ">＞﹥〉〉⟩›》⟫˃ᐳ❭❯❱";

/** The ASCII meaning of characters: `|` is any separator, `~` is a character that cannot occur in a tag head. */
const FOLDED_CLASSES: readonly (readonly [to: string, from: string])[] = [
  ["<", OPENERS],
  [">", CLOSERS],
  ["/", "/／⁄∕╱⧸"],
  ["=", "=＝﹦꞊⁼"],
  ['"', '"“”„‟″＂❝❞「」『』'],
  ["'", "'‘’‚‛′＇❛❜`´"],
  ["[", "[［【〔"],
  ["]", "]］】〕"],
  ["_", "_＿‿⁀﹍﹎﹏"],
  ["-", "-‐‑‒–—―−－﹣➖"],
  [
    " ",
    " \t\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000▁",
  ],
  ["\n", "\n\r\u0085\u2028\u2029"],
  ["~", "&(){}\\?"],
  ["", "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"],
  ["", "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufeff\ufe00\ufe01\ufe02\ufe0e\ufe0f"],
  ["a", "аαɑ"],
  ["A", "АΑ"],
  ["c", "сϲ"],
  ["C", "СϹ"],
  ["d", "ԁ"],
  ["D", "Ꭰ"],
  ["e", "еεҽ"],
  ["E", "ЕΕ"],
  ["i", "іιıɩ"],
  ["I", "ІΙ"],
  ["k", "кκ"],
  ["K", "КΚ"],
  ["l", "ӏǀ"],
  ["L", "Ꮮ"],
  ["m", "м"],
  ["M", "МΜ"],
  ["n", "ոп"],
  ["N", "Ν"],
  ["o", "оοօ"],
  ["O", "ОΟ"],
  ["p", "рρ"],
  ["P", "РΡ"],
  ["r", "гᴦ"],
  ["s", "ѕ"],
  ["S", "Ѕ"],
  ["t", "тτ"],
  ["T", "ТΤ"],
  ["v", "νѵᴠ"],
  ["V", "Ѵ"],
];

const table = new Map<number, string>();
for (const [to, from] of FOLDED_CLASSES) for (const char of from) table.set(char.codePointAt(0) ?? 0, to);

const ASCII: string[] = Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  return table.get(code) ?? (/[A-Za-z0-9]/.test(char) ? char : "|");
});

function foldWide(codePoint: number): string {
  const known = table.get(codePoint);
  if (known !== undefined) return known;
  const plain = String.fromCodePoint(codePoint).normalize("NFKC");
  const folded = /^[A-Za-z0-9]$/.test(plain) ? plain : (table.get(plain.codePointAt(0) ?? 0) ?? "|");
  if (table.size < 4096) table.set(codePoint, folded);
  return folded;
}

/**
 * The ASCII meaning of a code point within a tag candidate: letters and digits as themselves (with their case), `_`,
 * `-`, `/`, `=`, quotes, brackets, ` ` and `\n` for white space, `|` for every other separator, `~` for a character
 * that cannot occur in a tag head, and the empty string for characters without width.
 */
export function foldToAscii(codePoint: number): string {
  return codePoint < 128 ? (ASCII[codePoint] ?? "|") : foldWide(codePoint);
}

/** The flags of every UTF-16 unit. One look-up decides whether a unit needs any processing. */
export const UNIT_FLAGS = new Uint8Array(65536);
for (const char of OPENERS) UNIT_FLAGS[char.charCodeAt(0)] = OPENER_FLAG;
UNIT_FLAGS[BACKTICK] = BACKTICK_FLAG;
UNIT_FLAGS[LINE_FEED] = LINE_FEED_FLAG;
UNIT_FLAGS[BACKSLASH] = BACKSLASH_FLAG;
UNIT_FLAGS["&".charCodeAt(0)] = AMPERSAND_FLAG;
for (const char of "]］】") UNIT_FLAGS[char.charCodeAt(0)] = BRACKET_FLAG;

/** The index of the first unit in `[from, to)` that has one of the flags `flags`; `to` if there is none. */
export function findFlagged(text: string, from: number, flags: number, to = text.length): number {
  const unitFlags = UNIT_FLAGS;
  let index = from;
  while (index < to && ((unitFlags[text.charCodeAt(index)] ?? 0) & flags) === 0) index++;
  return index;
}

/** Whether the unit is white space between tags. */
function isSpace(unit: number): boolean {
  return (
    unit === SPACE || (unit >= TAB && unit <= RETURN) || unit === 0x3000 || unit === 0xa0 || unit === 0xfeff
  );
}

/** The index of the first unit from `from` on that is not white space, or the length of the text. */
export function skipSpace(text: string, from: number): number {
  let index = from;
  while (index < text.length && isSpace(text.charCodeAt(index))) index++;
  return index;
}
