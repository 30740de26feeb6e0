import { findMissingScripts } from "./font-coverage.ts";

/** Where Linux has its fonts. */
const FONT_FOLDERS = ["/usr/share/fonts", "/usr/local/share/fonts"];
/** Maximum depth of folders to look into. */
const MAX_DEPTH = 4;

/**
 * Warns if the fonts of this machine cannot draw the pages of many readers. The names of the font files decide, so that
 * no browser has to be started.
 */
export async function warnOfMissingFonts(): Promise<void> {
  if (Deno.build.os !== "linux") return;
  const names = (await Promise.all(FONT_FOLDERS.map((folder) => listNames(folder, MAX_DEPTH)))).flat();
  const missing = findMissingScripts(names);
  if (missing.length === 0) return;
  console.warn(
    `Fonts are missing for ${missing.join(", ")}: screenshots show boxes instead of these letters (docs/page-service.md).`,
  );
}

async function listNames(folder: string, depth: number): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      names.push(name);
      if (isDirectory && depth > 0) names.push(...(await listNames(`${folder}/${name}`, depth - 1)));
    }
  } catch {
    // The folder does not exist, or may not be read: it has no fonts for the browser.
  }
  return names;
}
