import type { Catalogue, Technology } from "./catalogue.ts";
import type { Detection } from "./matcher.ts";

/** A technology that a page uses. */
export type ResolvedTechnology = {
  readonly technology: Technology;
  /** Percentage, at most 100. */
  readonly confidence: number;
  /** Empty if unknown. */
  readonly version: string;
};

const MAX_VERSION_LENGTH = 15;
/** A larger major version is in fact a date or a build number. */
const MAX_MAJOR_VERSION = 10_000;

/**
 * Combines the matches of a page into technologies. A technology that requires another one, or one of a category,
 * counts once that is found, which may take several rounds.
 */
export function resolveDetections(
  catalogue: Catalogue,
  detections: readonly Detection[],
): ResolvedTechnology[] {
  const satisfied = new Set<Technology>();
  for (;;) {
    const included = detections.filter(
      ({ technology }) => !technology.isConditional || satisfied.has(technology),
    );
    const resolved = resolveRound(catalogue, included);
    const added = findNewlySatisfied(resolved, detections, satisfied);
    if (added.length === 0) return sortResolved(catalogue, resolved);
    for (const technology of added) satisfied.add(technology);
  }
}

/**
 * Resolves matches like the engine: sums up confidence, takes the longest version, then applies exclusions and
 * implications.
 */
function resolveRound(catalogue: Catalogue, detections: readonly Detection[]): ResolvedTechnology[] {
  const byTechnology = new Map<Technology, { confidence: number; version: string }>();
  for (const { technology, confidence, version } of detections) {
    const sum = byTechnology.get(technology) ?? { confidence: 0, version: "" };
    byTechnology.set(technology, sum);
    sum.confidence = Math.min(100, sum.confidence + confidence);
    if (version.length > sum.version.length && isPlausibleVersion(version)) sum.version = version;
  }
  const resolved = [...byTechnology].map(([technology, sum]): ResolvedTechnology => ({ technology, ...sum }));
  return addImplied(catalogue, withoutExcluded(resolved));
}

function isPlausibleVersion(version: string): boolean {
  return version.length <= MAX_VERSION_LENGTH && (Number.parseInt(version, 10) || 0) < MAX_MAJOR_VERSION;
}

/** If two technologies exclude each other, the one found first stays. */
function withoutExcluded(resolved: readonly ResolvedTechnology[]): ResolvedTechnology[] {
  const excluded = new Set<string>();
  for (const { technology } of resolved) {
    if (excluded.has(technology.name)) continue;
    for (const name of technology.excludes) excluded.add(name);
  }
  return resolved.filter(({ technology }) => !excluded.has(technology.name));
}

function addImplied(catalogue: Catalogue, resolved: readonly ResolvedTechnology[]): ResolvedTechnology[] {
  const all = [...resolved];
  const included = new Set(all.map(({ technology }) => technology));
  // The list grows during the loop, so that implied technologies can imply others.
  for (const { technology, confidence } of all) {
    for (const implied of technology.implies) {
      const technology = catalogue.byName.get(implied.name);
      if (technology === undefined || included.has(technology)) continue;
      included.add(technology);
      all.push({
        technology,
        confidence: Math.min(confidence, implied.confidence),
        version: implied.version,
      });
    }
  }
  return all;
}

/** Technologies with matches whose condition the resolved ones now fulfil. */
function findNewlySatisfied(
  resolved: readonly ResolvedTechnology[],
  detections: readonly Detection[],
  satisfied: ReadonlySet<Technology>,
): Technology[] {
  const names = new Set(resolved.map(({ technology }) => technology.name));
  const categories = new Set(resolved.flatMap(({ technology }) => technology.fingerprint.cats));
  const waiting = new Set(
    detections
      .map(({ technology }) => technology)
      .filter((technology) => technology.isConditional && !satisfied.has(technology)),
  );
  return [...waiting].filter(
    ({ requires, requiresCategory }) =>
      requires.some((name) => names.has(name)) || requiresCategory.some((id) => categories.has(id)),
  );
}

/** Sorts by priority of the category, then by name. */
function sortResolved(
  { categories }: Catalogue,
  resolved: readonly ResolvedTechnology[],
): ResolvedTechnology[] {
  const priority = ({ technology }: ResolvedTechnology) =>
    Math.max(0, ...technology.fingerprint.cats.map((id) => categories.get(id)?.priority ?? 0));
  return resolved.toSorted(
    (a, b) => priority(a) - priority(b) || (a.technology.name < b.technology.name ? -1 : 1),
  );
}
