import { RegExpParser } from "@eslint-community/regexpp";

/**
 * Literals that a text must contain for a regular expression to match: a list of groups. The text contains at least one
 * literal of each group, ignoring ASCII case. An empty list means: unknown.
 *
 * @typedef {string[][]} RequiredLiterals
 */

/** Shorter literals occur almost everywhere and do not help. */
const MIN_LENGTH = 3;
/** If a part of a pattern matches more strings than this, it counts as unknown. */
const MAX_STRINGS = 16;
const MAX_GROUPS = 3;

/** Text that most pages contain. A literal within it is of little use. */
const COMMON = `<script type="text/javascript" src="https://www. http:// https:// .com/ .net/ .org/ .min.js .min.css
  <link rel="stylesheet" type="text/css" href="// <meta name="generator" content=" <meta property="og: /wp-content/plugins/
  /wp-content/themes/ /wp-includes/js/ jquery window. function( document. <div class=" <div id=" <img src=" <a href="https://
  <iframe src="https:// version <form action=" <input type="hidden" <span class=" /static/ /assets/ /scripts/ /dist/ /js/ /css/
  data- powered by copyright <!-- --> googleapis.com cloudfront.net amazonaws.com cdn. api. script style container widget
  </a> </p> </span> </script> </title> </iframe> <ul <br <svg <a href="https://www <script>`;
/** Minimum length of the literals in further groups. Searching for shorter ones costs more than it saves. */
const MIN_FURTHER = 5;

/**
 * @param {RegExp} regex without the flags u, v and y
 * @returns {RequiredLiterals} the most selective group first
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
 * Knowledge about a node: all strings that it can match (if there are few), and further required groups.
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

/** A sequence: joins the strings of adjacent elements until an element is unknown. @returns {Known} */
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

/** Returns the characters of a small class, such as `[-_]` or `[Jj]`. */
function ofClass({ negate, elements }) {
  if (negate || elements.length === 0 || elements.length > 4) return undefined;
  const characters = elements.map((element) =>
    element.type === "Character" ? foldCharacter(element.value) : undefined,
  );
  return characters.includes(undefined) ? undefined : [...new Set(characters.flat())];
}

/** Case folding of the detector and of the flag i agree only for ASCII. */
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

/** A group is as selective as its least selective literal. */
function score(group) {
  return Math.min(...group.map((text) => (COMMON.includes(text) ? 1 : text.length))) - group.length / 100;
}
