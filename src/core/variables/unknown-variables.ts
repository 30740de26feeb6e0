import { editDistance } from "../encoding/edit-distance.ts";
import { parseVariables, type VariableOptions } from "./parse-variables.ts";

/** Variables that the start commands read. */
const COMMAND_VARIABLES = ["PORT", "HOST"];
/** Prefixes of the program's own names: they count also in a whole environment. */
const OWN_PREFIX = /^(?:PROVIDER|PAGE|GATEWAY|POOL|KEPT|DELIVERY)_/;
/** Prefixes of names for the tools of Workers, which read `.dev.vars` too. */
const FOREIGN_PREFIX = /^(?:CLOUDFLARE|WRANGLER|CF|OTEL)_/;
/** Shorter names are near to too many others. */
const MIN_LENGTH = 8;
/** How many letters a mistyped name may have wrong. */
const MAX_DISTANCE = 3;

/** The names of all variables that the program reads. */
function listVariables(options: VariableOptions): readonly string[] {
  const names = new Set(COMMAND_VARIABLES);
  const reader = new Proxy({}, { get: (_, name) => void names.add(String(name)) });
  parseVariables(reader, options);
  return [...names];
}

/**
 * Describes names that no variable of the program has: each in a sentence, with the nearest known name.
 *
 * @param isOwn whether all names are meant for the program. False: they are a whole environment, and only names that look
 *   like ours count
 */
export function describeUnknownVariables(
  names: readonly string[],
  options: VariableOptions,
  { isOwn }: { readonly isOwn: boolean },
): string[] {
  const known = listVariables(options);
  return names.flatMap((name) => {
    if (known.includes(name) || FOREIGN_PREFIX.test(name) || name.length > 100) return [];
    const upper = name.toUpperCase();
    const [nearest] = known
      .map((candidate) => ({ candidate, edits: editDistance(upper, candidate) }))
      .sort((one, other) => one.edits - other.edits);
    const isNear =
      nearest !== undefined && nearest.edits <= MAX_DISTANCE && nearest.candidate.length >= MIN_LENGTH;
    if (!isOwn && !OWN_PREFIX.test(upper) && !(isNear && name.length >= MIN_LENGTH && nearest.edits === 1))
      return [];
    const hint = isNear ? ` Do you mean ${nearest.candidate}?` : " docs/variables.md lists all.";
    return [`there is no variable ${name}.${hint}`];
  });
}
