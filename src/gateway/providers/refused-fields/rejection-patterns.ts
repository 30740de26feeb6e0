/*
 * Patterns that read the English error texts with which backends refuse a field. All take linear time, and only literals
 * of the program become part of them.
 */

const REFUSED =
  "(?:un|not |n't )(?:be )?(?:support|permit|allow|enabled|recogni|known|expected|available)|extra[ _](?:inputs|forbidden)|no longer|deprecated|may only be set";

/**
 * Creates a pattern for the rejection of a field itself, in the words of the APIs that refuse fields. It does not match
 * a value out of range, which the caller must correct. `name` is a regular expression, whose `.` is repeated a
 * bounded number of times only.
 */
export function fieldRejectionPattern(name: string): RegExp {
  return new RegExp(`(?:${REFUSED})[^.]{0,80}?\\b${name}\\b|\\b${name}\\b[^.]{0,80}?(?:${REFUSED})`, "i");
}

/**
 * Creates a case-insensitive pattern for a sentence with `first` and later `second`, both regular expressions.
 * `first` may not occur again between them: a text that repeats it would otherwise take quadratic time.
 *
 * @param end the characters that end a sentence
 */
export function sentencePattern(first: string, second: string, end = "."): RegExp {
  return new RegExp(`(?:${first})(?:(?!${first})[^${end}])*(?:${second})`, "i");
}

/** Creates a case-insensitive pattern that matches what any of the expressions matches. */
export function anyPattern(...expressions: readonly RegExp[]): RegExp {
  return new RegExp(expressions.map(({ source }) => source).join("|"), "i");
}

const UNAVAILABLE =
  "not (?:be )?(?:support|permit|allow)|unsupported|unknown|unexpected|unrecogni[sz]ed|deprecated|may only|expected tags";

/** Creates a pattern for a sentence which says that a feature is unavailable. `name` is a regular expression. */
export function unavailablePattern(name: string): RegExp {
  return anyPattern(
    sentencePattern(name, `\\b(?:${UNAVAILABLE})`, '".'),
    sentencePattern(UNAVAILABLE, name, '".'),
  );
}
