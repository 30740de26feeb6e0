import scriptFonts from "./script-fonts.json" with { type: "json" };

/** The scripts for which none of the font files has glyphs, judged by the files' names. */
export function findMissingScripts(names: readonly string[]): string[] {
  const all = names.map((name) => name.toLowerCase());
  return Object.entries(scriptFonts)
    .filter(([, parts]) => !all.some((name) => parts.some((part) => name.includes(part))))
    .map(([script]) => script);
}
