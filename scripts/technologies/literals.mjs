import { RegExpParser } from "@eslint-community/regexpp";

/**
 * What must be in a text for a regular expression to match it: a list of groups, of each of which at least one literal
 * occurs in the text, compared without regard to ASCII case. An empty list means that nothing is known.
 *
 * @typedef {string[][]} RequiredLiterals
 */

/** Shorter literals occur nearly everywhere, and are no help. */
const MIN_LENGTH = 3;
/** How many strings a part of a pattern may stand for before it counts as unknown. */
const MAX_STRINGS = 16;
const MAX_GROUPS = 3;

/** Text that most pages contain: a literal within it says little. */
const COMMON = `<script type="text/javascript" src="https://www. http:// https:// .com/ .net/ .org/ .min.js .min.css
  <link rel="stylesheet" type="text/css" href="// <meta name="generator" content=" <meta property="og: /wp-content/plugins/
  /wp-content/themes/ /wp-includes/js/ jquery window. function( document. <div class=" <div id=" <img src=" <a href="https://
  <iframe src="https:// version <form action=" <input type="hidden" <span class=" /static/ /assets/ /scripts/ /dist/ /js/ /css/
  data- powered by copyright <!-- --> googleapis.com cloudfront.net amazonaws.com cdn. api. script style container widget
  </a> </p> </span> </script> </title> </iframe> <ul <br <svg <a href="https://www <script>`;
/** Beside its first group a pattern has only such whose literals are as long: shorter ones cost more to find than they spare. */
const MIN_FURTHER = 5;

/**
 * @param {RegExp} regex without the flags u, v and y
 * @returns {RequiredLiterals} the most telling group first
 */
export function requiredLiterals(regex) {
  const pattern = new RegExpParser({ ecmaVersion: 2025 }).parsePattern(regex.source);
  const { strings, groups } = ofAlternatives(pattern.alternatives);
  const all = strings === undefined ? groups : addGroup(groups, strings);
  const unique = new Map(all.map((group) => [[...group].sort().join("\0"), [...new Set(group)]]));
  const sorted = [...unique.values()].sort((a, b) => score(b) - score(a));
  return sorted.filter((group, index) => index === 0 || score(group) > MIN_FURTHER - 1).slice(0, MAX_GROUPS);
}

/**
 * What is known of a node: every string that it can match (if they are few), and groups required besides.
 *
 * @typedef {{ strings: string[] | undefined, groups: string[][] }} Known
 */

/** @returns {Known} */
function ofAlternatives(alternatives) {
  const parts = alternatives.map(ofAlternative);
  if (parts.length === 1) return parts[0];
  if (parts.every(({ strings }) => strings !== undefined)) {
    const strings = [...new Set(parts.flatMap(({ strings }) => strings))];
    if (strings.length <= MAX_STRINGS * 2) return { strings, groups: [] };
  }
  const best = parts.map(({ strings, groups }) => {
    const all = strings === undefined ? groups : addGroup(groups, strings);
    return all.toSorted((a, b) => score(b) - score(a))[0];
  });
  return { strings: undefined, groups: best.every(Boolean) ? addGroup([], [...new Set(best.flat())]) : [] };
}

/** A sequence: strings of neighbours are joined until a neighbour is unknown. @returns {Known} */
function ofAlternative(alternative) {
  let run = [""];
  let whole = true;
  let groups = [];
  for (const element of alternative.elements) {
    const known = ofElement(element);
    groups = groups.concat(known.groups);
    if (known.strings !== undefined && run.length * known.strings.length <= MAX_STRINGS) {
      run = run.flatMap((head) => known.strings.map((tail) => head + tail));
      continue;
    }
    whole = false;
    groups = addGroup(groups, run);
    run = known.strings ?? [""];
  }
  if (whole) return { strings: run, groups };
  return { strings: undefined, groups: addGroup(groups, run) };
}

/** @returns {Known} */
function ofElement(element) {
  switch (element.type) {
    case "Character":
      return { strings: foldCharacter(element.value), groups: [] };
    case "CharacterClass":
      return { strings: ofClass(element), groups: [] };
    case "Group":
    case "CapturingGroup":
      return element.modifiers ? unknown() : ofAlternatives(element.alternatives);
    case "Quantifier":
      return ofQuantifier(element);
    case "Assertion":
      return { strings: [""], groups: [] };
    default:
      return unknown();
  }
}

/** @returns {Known} */
function ofQuantifier({ min, max, element }) {
  const known = ofElement(element);
  if (min === 0) {
    if (max !== 1 || known.strings === undefined) return unknown();
    return { strings: [...new Set(["", ...known.strings])], groups: [] };
  }
  if (max === 1) return known;
  return {
    strings: undefined,
    groups: known.strings === undefined ? known.groups : addGroup(known.groups, known.strings),
  };
}

/** The characters of a small class, such as `[-_]` or `[Jj]`. */
function ofClass({ negate, elements }) {
  if (negate || elements.length === 0 || elements.length > 4) return undefined;
  const characters = elements.map((element) =>
    element.type === "Character" ? foldCharacter(element.value) : undefined,
  );
  return characters.includes(undefined) ? undefined : [...new Set(characters.flat())];
}

/** Only ASCII folds in the same way in the program and in a pattern with the flag i. */
function foldCharacter(codePoint) {
  return codePoint < 0x80 ? [String.fromCodePoint(codePoint).toLowerCase()] : undefined;
}

function addGroup(groups, strings) {
  return strings.some((text) => text.length < MIN_LENGTH) ? groups : [...groups, strings];
}

/** @returns {Known} */
function unknown() {
  return { strings: undefined, groups: [] };
}

/** A group tells as much as its least telling literal. */
function score(group) {
  return Math.min(...group.map((text) => (COMMON.includes(text) ? 1 : text.length))) - group.length / 100;
}
