/** Returns a generator of text that repeats `unit` up to `n` UTF-16 code units. */
function of(unit: string): (n: number) => string {
  return (n) => unit.repeat(Math.ceil(n / unit.length)).slice(0, n);
}

/** Texts of any length that may make a stage scan its input repeatedly, by name. A model or a client may send them. */
export const DEGENERATE: readonly (readonly [name: string, text: (n: number) => string])[] = [
  ["spaces", of(" ")],
  ["line ends", of("\n")],
  ["openers", of("<")],
  ["wrappers", of("<tool_calls>")],
  ["invokes", of('<invoke name="a">')],
  ["closing tags", of("</parameter></invoke></tool_calls>")],
  ["openings, then closings", (n) => of('<invoke name="a">')(n / 2) + of("</tool_calls>")(n / 2)],
  ["sections never closed", of('<parameter name="q"><![CDATA[x</parameter>')],
  ["section ends", of("]]> ]] ")],
  ["entities", of("&lt;&#60;&")],
  ["citations", of("[citation:1]")],
  ["braces", of("{")],
  ["objects", of('{"a":[1,2,{"b":"c"}]},')],
  ["backslashes", of("\\")],
  ["backticks", of("` `` ``` ")],
  ["fences", of("```\n~~~\n")],
  ["lists and quotes", of("- > 1. ")],
  ["halves of characters", of("\ud83d")],
  ["control characters", of("\u0000\u0001\u2028")],
  ["wide characters", of("漢字👍🏽")],
];

/** Splits `text` into pieces of `size` code units. */
export function pieces(text: string, size: number): string[] {
  const all: string[] = [];
  for (let at = 0; at < text.length; at += size) all.push(text.slice(at, at + size));
  return all;
}
