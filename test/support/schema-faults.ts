import type { OutputUnit } from "@cfworker/json-schema";

const MAX_FAULTS = 5;
/** The validator's message for a member that a closed object does not have. */
const FORBIDDEN = "False boolean schema.";

/** Returns the innermost errors. The errors around them only say that there are inner ones. */
export function innermost(errors: readonly OutputUnit[]): string {
  const places = errors.map(({ instanceLocation }) => instanceLocation);
  const inner = errors.filter(
    ({ instanceLocation }) => !places.some((place) => place.startsWith(`${instanceLocation}/`)),
  );
  const lines = inner.map(
    ({ instanceLocation, error }) =>
      `${instanceLocation.replace("#", "body")}: ${error === FORBIDDEN ? "is not described" : error}`,
  );
  return [...new Set(lines)].slice(0, MAX_FAULTS).join("; ");
}
