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

/** A document that a comment cites, such as `(docs/contract/keys.md, Authentication, rule 4)`. */
export interface Citation {
  /** The path of the document. */
  readonly file: string;
  /** Its sections and rules, in order: `["Authentication", "rule 4"]`. */
  readonly places: readonly string[];
}

/** Returns the documents that the comments of a source file cite. */
export function citationsOf(source: string): Citation[] {
  const text = source.replaceAll(/\n\s*(?:\*|\/\/) ?/g, " ");
  return Array.from(text.matchAll(/\((docs\/[^()]+)\)/g), ([, cited = ""]) => cited)
    .flatMap((cited) => cited.split(/[;,] (?=docs\/)/))
    .map((cited) => {
      const [file = "", ...places] = (cited.split("; ")[0] ?? "").split(", ");
      return { file, places };
    });
}

/** Returns whether a document has the sections and rules of a citation. A section may be cited by the start of its heading. */
export function hasPlaces(document: string, places: readonly string[]): boolean {
  let section = document;
  for (const place of places) {
    const rules = /^(general |tool )?(?:rule|assertion)s? (\d+)(?: (?:and|to) (\d+))?$/.exec(place);
    if (rules === null) {
      const found = sectionOf(section, place);
      if (found === undefined) return false;
      section = found;
      continue;
    }
    const [, kind = "", first, last] = rules;
    const list = kind === "" ? section : (sectionOf(section, RULE_SECTIONS[kind] ?? "") ?? "");
    const numbers = [first, last].filter((number) => number !== undefined);
    if (!numbers.every((number) => new RegExp(`^${number}\\. `, "m").test(list))) return false;
  }
  return true;
}

/** The sections with the numbered rules of `docs/contract.md`. */
const RULE_SECTIONS: Readonly<Record<string, string>> = {
  "general ": "What the service does",
  "tool ": "Tool calling rules",
};

/** The text under the first heading that begins so, up to the next heading of its level or a higher one. */
function sectionOf(document: string, title: string): string | undefined {
  const lines = document.split("\n");
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, "").startsWith(title));
  if (start < 0) return undefined;
  const level = /^#+/.exec(lines[start] ?? "")?.[0].length ?? 0;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex(
    (line) => (/^(#+) /.exec(line)?.[1]?.length ?? Number.POSITIVE_INFINITY) <= level,
  );
  return rest.slice(0, end < 0 ? undefined : end).join("\n");
}
