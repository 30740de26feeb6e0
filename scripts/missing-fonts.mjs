// Names what this machine's fonts cannot draw, for the lines at the start (as `src/runtime/deno/missing-fonts.ts` does on Deno).
import { readdirSync, readFileSync } from "node:fs";

const scriptFonts = new URL("../src/runtime/deno/script-fonts.json", import.meta.url);

function listNames(folder) {
  try {
    return readdirSync(folder, { recursive: true }).map((name) => String(name).toLowerCase());
  } catch {
    return [];
  }
}

/** The line of the banner that names the scripts without fonts; none if all have some. Only Linux often lacks them. */
export function describeMissingFonts() {
  if (process.platform !== "linux") return [];
  const names = ["/usr/share/fonts", "/usr/local/share/fonts"].flatMap(listNames);
  const missing = Object.entries(JSON.parse(readFileSync(scriptFonts, "utf8")))
    .filter(([, parts]) => !names.some((name) => parts.some((part) => name.includes(part))))
    .map(([script]) => script);
  return missing.length === 0
    ? []
    : [
        [
          "Fonts",
          `missing for ${missing.join(", ")}: screenshots show boxes instead of these letters (docs/page-service.md)`,
        ],
      ];
}
