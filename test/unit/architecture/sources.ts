import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";

/** The project's folder. */
export const root = join(import.meta.dirname, "../../..");

/** A source file: its path in the project, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** The TypeScript files of a folder, those in its folders too. */
export function sources(folder: string): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path: relative(root, path), text: readFileSync(path, "utf8") }));
}

/** The files that a file imports from its own project, by their paths in it: for their values, or for their types alone. */
export function importsOf({ path, text }: SourceFile): string[] {
  return [...text.matchAll(/(?:from\s+|import\s+|await import\()"(\.[^"]+)"/g)].map(([, specifier = ""]) =>
    normalize(join(dirname(path), specifier)),
  );
}
