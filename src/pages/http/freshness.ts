import type { PageSetup } from "../../core/ports/page-setup.ts";
import type { QueryParameters } from "./query-parameters.ts";

/** Accepted age of a cached answer, in seconds. */
export interface Freshness {
  /** Up to this age an answer is fresh; 0: always make a new answer. */
  readonly maxAge: number;
  /** For this long after `maxAge` a stale answer is returned immediately, while a new one is made in the background. */
  readonly staleFor: number;
}

/** The default: an answer is fresh for a day, and may be stale for one more. */
export const DEFAULT_MAX_AGE = 86_400;
const DEFAULT_STALE_FOR = 86_400;
/** The maximum of either parameter. */
export const MAX_AGE_LIMIT = 2_592_000;

/** Reads the accepted age. With `maxAge` alone, no stale answer is accepted; a request with secrets accepts none. */
export function readFreshness(query: QueryParameters, { secrets }: Pick<PageSetup, "secrets">): Freshness {
  const maxAge = query.integer("maxAge", 0, MAX_AGE_LIMIT);
  const stale = query.integer("staleWhileRevalidate", 0, MAX_AGE_LIMIT);
  if (secrets !== null) return { maxAge: 0, staleFor: 0 };
  return { maxAge: maxAge ?? DEFAULT_MAX_AGE, staleFor: stale ?? (maxAge === null ? DEFAULT_STALE_FOR : 0) };
}
