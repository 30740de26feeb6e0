import { type Mutant, mutantOf } from "./mutant.ts";

/** Mutants of how tags, CDATA marks, entities and Markdown are read, and how calls are shown. */
export const marks: Mutant[] = [];
const add = (...parts: Parameters<typeof mutantOf>): void => {
  marks.push(mutantOf(...parts));
};

add("grammar", "names may be blank", 'tag.name !== undefined && tag.name !== ""', "tag.name !== undefined");
add(
  "grammar",
  "names may be missing",
  'return !tag.close && tag.name !== undefined && tag.name !== "";',
  "return !tag.close;",
);
add("grammar", "text is held back for long", "HOLD = 128", "HOLD = 1024");
add("tags", "nothing may become a tag", 'if (span.open) return "partial";\n  const', "const");
add(
  "tags",
  "nothing may become an attribute",
  'if (span.open) return "partial";\n      return piped',
  "return piped",
);
add("tags", "a glance waits for nothing", '"unsure" : "partial"', '"unsure" : "none"');
add("tags", "a shell has no bound", "if (index - at - openers === MAX_SHELL)", "if (index < 0)");
add(
  "tags",
  "tags may be endless",
  "const stop = Math.min(source.length, at + limit);\n  const span",
  "const stop = source.length;\n  const span",
);
add("tags", "foreign shells count", 'if (letters === "antml") return undefined;', "");
add("tags", "hyphens need no shell", "if (!pascal && !separated && !joined) return undefined;", "");
add(
  "entities",
  "half an entity is text",
  'return !final && PREFIX.test(window) ? "partial" : "none";',
  'return "none";',
);
add("markdown", "backslashes do not escape", 'else if (unit === 0x5c) this.#place = "escape";', "");
add("markdown", "shorter runs close fences", "this.#run >= (this.#fence?.length ?? 0)", "this.#run >= 3");
add(
  "markdown",
  "any fence character closes",
  "const closes = unit === this.#fence.unit && near;",
  "const closes = (unit === TICK || unit === TILDE) && near;",
);
add(
  "markdown",
  "text behind a closer closes",
  'else if (unit !== SPACE && unit !== TAB && unit !== RETURN) this.#place = "code";',
  "",
);
add(
  "markdown",
  "runs close runs of any length",
  "const partner = this.#open.indexOf(run);",
  "const partner = this.#open.length - 1;",
);
add(
  "markdown",
  "paragraphs do not end spans",
  "this.#paragraph = false;\n    this.#open = [];",
  "this.#paragraph = false;",
);
add(
  "markdown",
  "lists do not end fences",
  "if (this.#fence && this.#depth < this.#fence.depth) this.#closeFence();\n    if",
  "if",
);
add("cdata", "marks need both brackets", "NAMED.test(folded)) shortEnd", 'NAMED.test("")) shortEnd');
add(
  "cdata",
  "anything separates",
  "if (unit < 0x20) return",
  "if (unit > 0x7f) return true;\n  if (unit < 0x20) return",
);
add(
  "cdata",
  "openings are not waited for",
  'return !final && stop === source.length ? "partial" : shortEnd;',
  "return shortEnd;",
);
add(
  "cdata",
  "a late bracket is text",
  "if (!MAY_OPEN.test(folded)) return shortEnd;",
  'if (shortEnd !== "none" || !MAY_OPEN.test(folded)) return shortEnd;',
);
add(
  "cdata",
  "end marks are not waited for",
  'const short = final ? "none" : "partial";',
  'const short = final ? "none" : "none";',
);
add("cdata", "gaps have no bound", "while (index < from + MAX_GAP &&", "while (index >= from &&");
add(
  "cdata",
  "drifted marks are exact",
  'kind: exact ? "exact" : "drifted"',
  'kind: exact ? "exact" : "exact"',
);
add("cdata", "any sign may be half an opening", 'return (second === "|" || second === "[") &&', "return");
add(
  "tags",
  "foreign closing tags end a text",
  "(shell + local).startsWith(letters)),",
  '(shell + local).startsWith(letters) || letters !== ""),',
);
add(
  "tags",
  "opening tags end a text",
  'if (folded !== "" && !folded.includes("/") &&',
  'if (folded === "?" &&',
);
add("tags", "half a shell is text", '!/[|｜]/.test(source[at + 1] ?? "")', "source");
add(
  "markdown",
  "fences in a piece are searched beyond it",
  "BACKTICK | NEWLINE | BACKSLASH, to);",
  "BACKTICK | NEWLINE | BACKSLASH);",
);
add("markup", "strings are shown as JSON", "source.startsWith('\"') ? JSON", 'source.startsWith("?") ? JSON');
add(
  "members",
  "brackets in strings count",
  "if (char === '\"') {\n      index",
  'if (char === "?") {\n      index',
);
add("members", "quotes are never escaped", 'source[index] === "\\\\" ? 2 : 1', "1");
add("render", "null is an argument", "(?:null\\s*)?$", "$");
