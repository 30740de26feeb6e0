import { type AST, RegExpParser, visitRegExpAST } from "@eslint-community/regexpp";
import { parseAst } from "vitest/node";
import { isObject } from "../../src/core/encoding/json.ts";
import type { SourceFile } from "../unit/architecture/sources.ts";
import { growthOf, MAX_GROWTH } from "./growth.ts";

/** A regular expression of the program and its position: `file:line`. */
export interface WrittenRegExp {
  readonly place: string;
  readonly regex: RegExp;
}

/**
 * Regular expressions of one file: literals, and positions of `new RegExp(…)`, whose pattern is unknown before run time.
 */
export interface RegExpsOfFile {
  readonly literals: readonly WrittenRegExp[];
  readonly built: readonly string[];
}

/** Finds the regular expressions in a file's syntax tree. */
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

/** Characters that are tried first, because almost every class contains a letter, a blank or a punctuation mark. */
const COMMON = ["a", " ", "-", "0", "_", "\t", ".", '"', "/", "\n"];
const ASCII = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index));
/** Maximum number of characters tried per class. */
const MOST_OF_CLASS = 3;

/** Returns characters that a class matches. */
function charactersOf(raw: string, flags: string): string[] {
  const one = new RegExp(`^${raw}$`, flags.replace(/[gy]/g, ""));
  const found = [...COMMON, ...ASCII].filter((character) => one.test(character));
  return [...new Set(found)].slice(0, MOST_OF_CLASS);
}

/**
 * Returns a text that matches a part of an expression: the first alternative of each choice, and the minimum of each
 * repetition, but at least one.
 *
 * @param which index of the character within each class
 */
function sampleOf(node: AST.Node, flags: string, which: number): string {
  const sample = (part: AST.Node) => sampleOf(part, flags, which);
  switch (node.type) {
    case "Pattern":
    case "Group":
    case "CapturingGroup":
      return node.alternatives[0] === undefined ? "" : sample(node.alternatives[0]);
    case "Alternative":
      return node.elements.map(sample).join("");
    case "Quantifier":
      return sample(node.element).repeat(Math.max(1, node.min));
    case "Character":
      return String.fromCodePoint(node.value);
    case "CharacterClass":
    case "CharacterSet": {
      const characters = charactersOf(node.raw, flags);
      return characters[which % characters.length] ?? "";
    }
    default:
      return "";
  }
}

/** Returns a text for everything before a part of an expression. */
function textBefore(node: AST.Node, flags: string, which: number): string {
  const { parent } = node;
  if (parent === null) return "";
  const before = textBefore(parent, flags, which);
  if (parent.type !== "Alternative") return before;
  const elements: readonly AST.Node[] = parent.elements;
  const texts = parent.elements
    .slice(0, elements.indexOf(node))
    .map((element) => sampleOf(element, flags, which));
  return before + texts.join("");
}

/** A text of any length: a start, a repeated part, and an end at which the expression fails. */
interface Attack {
  readonly start: string;
  readonly pump: string;
  readonly end: string;
}

const ENDS = ["", "\u0000", ".\n"];

/**
 * Returns texts on which an expression may take more than linear time. Only unbounded repetitions matter. For each, the
 * attack repeats its characters after its prefix, and also the whole text up to it, where the search starts again each
 * time.
 */
function attacksOn({ source, flags }: RegExp): Attack[] {
  const pattern = new RegExpParser().parsePattern(source, 0, source.length, {
    unicode: flags.includes("u"),
    unicodeSets: flags.includes("v"),
  });
  const starts = new Set([""]);
  const pumps = new Set<string>();
  const both = [0, 1];
  visitRegExpAST(pattern, {
    onQuantifierEnter(node) {
      if (node.max !== Number.POSITIVE_INFINITY) return;
      const { type, raw } = node.element;
      const characters = type === "CharacterClass" || type === "CharacterSet" ? charactersOf(raw, flags) : [];
      for (const which of both) {
        const before = textBefore(node, flags, which);
        const repeated = sampleOf(node.element, flags, which);
        starts.add(before);
        for (const pump of [repeated, ...characters, before, before + repeated, repeated + before])
          pumps.add(pump);
        for (const character of characters) pumps.add(before + character);
      }
    },
  });
  if (pumps.size === 0) return [];
  // Text that follows a repetition, and text that almost matches it.
  visitRegExpAST(pattern, {
    onAlternativeEnter(node) {
      const text = sampleOf(node, flags, 0);
      pumps.add(text).add(text.slice(0, -1)).add(`${text}a`);
    },
    onCharacterEnter({ value }) {
      pumps.add(String.fromCodePoint(value));
    },
  });
  pumps.delete("");
  return [...starts].flatMap((start) =>
    [...pumps].flatMap((pump) => ENDS.map((end) => ({ start, pump, end }))),
  );
}

/** Sizes of an attack in characters. Exponential time shows at the first sizes and would not end at the others. */
const SIZES = [16, 24, 64, 256, 1_024, 4_096, 32_768];
/** Longer CPU time at one of the sizes (milliseconds) triggers a closer check. */
const SUSPICIOUS_MS = 10;
/** No linear expression takes that long on so few characters. */
const FEW = 256;

function cpuOf(regex: RegExp, text: string): number {
  const start = process.cpuUsage();
  text.replace(regex, "");
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

async function isSuperLinear(regex: RegExp, { start, pump, end }: Attack): Promise<boolean> {
  const textOf = (size: number) => start + pump.repeat(Math.ceil(size / pump.length)) + end;
  for (const size of SIZES) {
    const text = textOf(size);
    const isSlow = () => cpuOf(regex, text) > SUSPICIOUS_MS;
    // Repeat the measurement, because other work of the process may have affected it.
    if (!(isSlow() && isSlow() && isSlow())) continue;
    if (size <= FEW) return true;
    const growth = await growthOf((n) => {
      const long = textOf(n);
      return () => long.replace(regex, "");
    });
    return growth > MAX_GROWTH;
  }
  return false;
}

/** Returns the parts of a text on which an expression takes more than linear time; null if no attack succeeds. */
export async function superLinearText(regex: RegExp): Promise<string | null> {
  for (const attack of attacksOn(regex)) {
    if (await isSuperLinear(regex, attack)) {
      const { start, pump, end } = attack;
      return `${JSON.stringify(start)} + ${JSON.stringify(pump)}.repeat(n) + ${JSON.stringify(end)}`;
    }
  }
  return null;
}
