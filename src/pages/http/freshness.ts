import type { PageSetup } from "../../core/ports/page-setup.ts";
import { describeDefault, integer, readParameters } from "./parameter-table.ts";
import type { QueryParameters } from "./query-parameters.ts";

/** Accepted age of a cached answer, in seconds. */
export interface Freshness {
  /** Up to this age an answer is fresh; 0: always make a new answer. */
  readonly maxAge: number;
  /** For this long after `maxAge` a stale answer is returned immediately, while a new one is made in the background. */
  readonly staleFor: number;
}

/** The default: an answer is fresh for a day, and may be stale for one more. */
const DEFAULT_MAX_AGE = 86_400;
const DEFAULT_STALE_FOR = 86_400;
/** The maximum of either parameter. */
const MAX_AGE_LIMIT = 2_592_000;

/** The parameters of the accepted age. */
export const FRESHNESS_PARAMETERS = {
  maxAge: describeDefault(
    integer(0, MAX_AGE_LIMIT, "Maximum age of a cached answer in seconds. 0: load the page again."),
    DEFAULT_MAX_AGE,
  ),
  staleWhileRevalidate: integer(
    0,
    MAX_AGE_LIMIT,
    "Seconds beyond maxAge for which a kept answer is given at once, while a new one is made. 86400, or 0 with maxAge.",
  ),
};

/** Reads the accepted age. With `maxAge` alone, no stale answer is accepted; a request with secrets accepts none. */
export function readFreshness(query: QueryParameters, { secrets }: Pick<PageSetup, "secrets">): Freshness {
  const { maxAge, staleWhileRevalidate: stale } = readParameters(query, FRESHNESS_PARAMETERS);
  if (secrets !== null) return { maxAge: 0, staleFor: 0 };
  return { maxAge: maxAge ?? DEFAULT_MAX_AGE, staleFor: stale ?? (maxAge === null ? DEFAULT_STALE_FOR : 0) };
}
