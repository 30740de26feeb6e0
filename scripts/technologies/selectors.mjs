import { parse } from "css-what";

const MIN_LENGTH = 3;
const SEARCHED = new Set(["equals", "start", "end", "any", "element", "hyphen"]);

/**
 * Returns what the names and attribute values of a document must contain for a CSS selector to match, in the form of
 * `requiredLiterals`. Ignores tag names, which are not selective.
 *
 * @param {string} selector
 * @returns {string[][]} one group with a literal for each alternative, or nothing if an alternative has none
 */
export function selectorLiterals(selector) {
  const literals = parse(selector).map((tokens) => {
    const found = tokens.flatMap(literalOf).filter((text) => text.length >= MIN_LENGTH);
    return found.sort((a, b) => b.length - a.length)[0];
  });
  return literals.length > 0 && literals.every(Boolean) ? [[...new Set(literals)]] : [];
}

function literalOf(token) {
  if (token.type !== "attribute") return [];
  const texts = [token.name];
  if (SEARCHED.has(token.action)) texts.push(token.value);
  return texts.map((text) => text.toLowerCase()).filter((text) => /^[\x20-\x7e]+$/.test(text));
}
