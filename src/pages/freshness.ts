import type { QueryParameters } from "./parameters.ts";

/** How old a kept answer may be, in seconds. */
export interface Freshness {
  /** Up to this it counts as new; 0: the answer is always made anew. */
  readonly maxAge: number;
  /** For so long after that it is still given at once, while a new one is made for the next who asks. */
  readonly staleFor: number;
}

/** What holds when the caller does not say: an answer counts as new for a day, and is given for one more. */
export const DEFAULT_MAX_AGE = 86_400;
const DEFAULT_STALE = 86_400;
/** The longest time that a caller may ask for, of either. */
export const LONGEST_MAX_AGE = 2_592_000;

/** Reads how old an answer may be. Whoever says how old gets nothing older, unless that is asked for, too. */
export function readFreshness(query: QueryParameters): Freshness {
  const maxAge = query.integer("maxAge", 0, LONGEST_MAX_AGE);
  const stale = query.integer("staleWhileRevalidate", 0, LONGEST_MAX_AGE);
  return { maxAge: maxAge ?? DEFAULT_MAX_AGE, staleFor: stale ?? (maxAge === null ? DEFAULT_STALE : 0) };
}
