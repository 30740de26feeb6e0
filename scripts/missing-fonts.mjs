// Warns at the start if this machine's fonts cannot draw the pages of many readers (as `src/runtime/deno/missing-fonts.ts` does on Deno).
import { readdirSync, readFileSync } from "node:fs";

const scriptFonts = new URL("../src/runtime/deno/script-fonts.json", import.meta.url);

function listNames(folder) {
  try {
    return readdirSync(folder, { recursive: true }).map((name) => String(name).toLowerCase());
  } catch {
    return [];
  }
}

/** Prints one line that names the scripts without fonts. Only Linux often lacks them. */
export function warnOfMissingFonts() {
  if (process.platform !== "linux") return;
  const names = ["/usr/share/fonts", "/usr/local/share/fonts"].flatMap(listNames);
  const missing = Object.entries(JSON.parse(readFileSync(scriptFonts, "utf8")))
    .filter(([, pattern]) => !names.some((name) => new RegExp(pattern).test(name)))
    .map(([script]) => script);
  if (missing.length === 0) return;
  console.warn(
    `No fonts for ${missing.join(", ")} on this machine: pictures show boxes instead (docs/page-service.md, fonts).`,
  );
}
