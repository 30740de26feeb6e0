import { RegExpParser } from "@eslint-community/regexpp";

/**
 * Returns the maximum length of a match of a regular expression, including lookahead and lookbehind.
 *
 * @param {RegExp} regex without the flags u, v, m and y
 * @returns {number} 0 if the length is unbounded, or if the pattern has an anchor (start or end of the text) and needs the
 *   whole text
 */
export function matchSpan(regex) {
  const length = ofAlternatives(
    new RegExpParser({ ecmaVersion: 2025 }).parsePattern(regex.source).alternatives,
  );
  return Number.isFinite(length) ? length : 0;
}

function ofAlternatives(alternatives) {
  return Math.max(
    ...alternatives.map(({ elements }) => elements.reduce((sum, element) => sum + ofElement(element), 0)),
  );
}

function ofElement(element) {
  switch (element.type) {
    case "Character":
    case "CharacterSet":
    case "CharacterClass":
      return 1;
    case "Group":
    case "CapturingGroup":
      return ofAlternatives(element.alternatives);
    case "Quantifier":
      return element.max === 0 ? 0 : element.max * ofElement(element.element);
    case "Assertion":
      if (element.kind === "start" || element.kind === "end") return Number.POSITIVE_INFINITY;
      return element.kind === "word" ? 0 : ofAlternatives(element.alternatives);
    default:
      return Number.POSITIVE_INFINITY;
  }
}
