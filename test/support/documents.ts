import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/development.mjs";

/** A fenced block of a document. */
export interface Block {
  /** Its position in the format of editors: `docs/connect.md:12`. */
  readonly place: string;
  /** `sh`, `ts`, …; empty if it names none. */
  readonly language: string;
  readonly text: string;
  /** Reason why it is not run, from a comment `<!-- not run: … -->` on the line before; null: it is run. */
  readonly notRun: string | null;
}

const FENCE = /^( *)```(\w*)\n([\s\S]*?)^\1```$/gm;
const NOT_RUN = /<!-- not run: (.+) -->\n$/;

/** Returns the blocks of a document in order. Removes the indentation of blocks in lists. */
export function blocksOf(path: string, text: string): Block[] {
  return Array.from(text.matchAll(FENCE), (match) => {
    const [, indent = "", language = "", body = ""] = match;
    const before = text.slice(0, match.index);
    return {
      place: `${path}:${before.split("\n").length}`,
      language,
      text: body.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
      notRun: NOT_RUN.exec(before)?.[1] ?? null,
    };
  });
}

/** Paths and texts of all documents, the introductory ones first. */
export function documents(): { readonly path: string; readonly text: string }[] {
  const inFolders = ["docs", "bench/results"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .sort()
      .map((name) => `${folder}/${name}`),
  );
  const others = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "sandbox/README.md", "bench/README.md"];
  return [...others, ...inFolders].map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}
