import { RegExpParser, visitRegExpAST } from "@eslint-community/regexpp";
import { checkSync } from "recheck/lib/browser.js";
import { parseAst } from "vitest/node";
import { isObject } from "../../src/encoding/json.ts";
import type { SourceFile } from "../unit/architecture/sources.ts";
import { growthOf, MAX_GROWTH } from "./growth.ts";

/** A regular expression of the program, and where it is written: `file:line`. */
export interface WrittenRegExp {
  readonly place: string;
  readonly regex: RegExp;
}

/** What one file writes: literals, and the places of `new RegExp(…)`, whose text is not known before the program runs. */
export interface RegExpsOfFile {
  readonly literals: readonly WrittenRegExp[];
  readonly built: readonly string[];
}

/** The regular expressions that the syntax tree of a file holds. */
export function regExpsOf({ path, text }: SourceFile): RegExpsOfFile {
  const literals: WrittenRegExp[] = [];
  const built: string[] = [];
  const walk = (node: unknown): void => {
    if (Array.isArray(node)) for (const item of node) walk(item);
    if (!isObject(node)) return;
    const { type, start, regex, callee } = node;
    const place = `${path}:${text.slice(0, Number(start ?? 0)).split("\n").length}`;
    if (type === "Literal" && isObject(regex)) {
      literals.push({ place, regex: new RegExp(String(regex["pattern"]), String(regex["flags"])) });
    }
    const calls = type === "NewExpression" || type === "CallExpression";
    if (calls && isObject(callee) && callee["name"] === "RegExp") built.push(place);
    for (const member of Object.values(node)) walk(member);
  };
  walk(parseAst(text, { lang: path.endsWith("x") ? "tsx" : "ts" }));
  return { literals, built };
}

/** Whether a regular expression repeats something without bound: the time of all others is linear. */
function repeatsWithoutBound({ source, flags }: RegExp): boolean {
  let found = false;
  const pattern = new RegExpParser().parsePattern(source, 0, source.length, {
    unicode: flags.includes("u"),
    unicodeSets: flags.includes("v"),
  });
  visitRegExpAST(pattern, {
    onQuantifierEnter({ max }) {
      found ||= max === Number.POSITIVE_INFINITY;
    },
  });
  return found;
}

/**
 * How `recheck` searches. Its limits count steps, so that the answer does not depend on the machine, and keep most searches below a second.
 * A search that does not end is an error.
 */
const SEARCH = {
  timeout: 120_000,
  attackTimeout: null,
  incubationTimeout: null,
  maxNFASize: 3_000,
  incubationLimit: 5_000,
  maxGeneStringSize: 1_000,
} as const;

/**
 * A text that makes a regular expression take more than linear time; null: there is none that `recheck` finds. What it finds is measured,
 * because it takes a repetition of bounded length for one without a bound.
 */
export async function superLinearText(regex: RegExp): Promise<string | null> {
  if (!repeatsWithoutBound(regex)) return null;
  const found = checkSync(regex.source, regex.flags, SEARCH);
  if (found.status === "unknown") throw new Error(`recheck cannot check ${regex}: ${found.error.kind}`);
  if (found.status === "safe") return null;
  const { pumps, suffix, pattern } = found.attack;
  if (found.complexity.type === "exponential") return pattern;
  const length = pumps.reduce((sum, { pump }) => sum + pump.length, 0);
  const textOf = (size: number) =>
    pumps.map(({ prefix, pump }) => prefix + pump.repeat(Math.ceil(size / length))).join("") + suffix;
  const growth = await growthOf((size) => {
    const text = textOf(size);
    return () => text.replace(regex, "");
  });
  return growth > MAX_GROWTH ? pattern : null;
}
