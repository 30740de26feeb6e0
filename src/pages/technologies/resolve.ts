import type { Catalogue, Technology } from "./catalogue.ts";
import type { Detection } from "./matcher.ts";

/** A technology that a page uses. */
export type Resolved = {
  readonly technology: Technology;
  /** Per cent, up to 100. */
  readonly confidence: number;
  /** Empty when unknown. */
  readonly version: string;
};

const MAX_VERSION_LENGTH = 15;
/** A greater major version is a date or a build number. */
const MAX_MAJOR_VERSION = 10_000;

/**
 * Decides which technologies the matches of a page add up to. Technologies that need another one, or one of a category, count once that is
 * found, which may take several rounds.
 */
export function resolveDetections(catalogue: Catalogue, detections: readonly Detection[]): Resolved[] {
  const open = new Set<Technology>();
  for (;;) {
    const counted = detections.filter(({ technology }) => !technology.isConditional || open.has(technology));
    const resolved = resolveRound(catalogue, counted);
    const met = newlyMet(resolved, detections, open);
    if (met.length === 0) return sortResolved(catalogue, resolved);
    for (const technology of met) open.add(technology);
  }
}

/** What the engine makes of matches: confidence added up, the longest version, exclusions, then implications. */
function resolveRound(catalogue: Catalogue, detections: readonly Detection[]): Resolved[] {
  const byTechnology = new Map<Technology, { confidence: number; version: string }>();
  for (const { technology, confidence, version } of detections) {
    const sum = byTechnology.get(technology) ?? { confidence: 0, version: "" };
    byTechnology.set(technology, sum);
    sum.confidence = Math.min(100, sum.confidence + confidence);
    if (version.length > sum.version.length && isPlausible(version)) sum.version = version;
  }
  const resolved = [...byTechnology].map(([technology, sum]): Resolved => ({ technology, ...sum }));
  return addImplied(catalogue, withoutExcluded(resolved));
}

function isPlausible(version: string): boolean {
  return version.length <= MAX_VERSION_LENGTH && (Number.parseInt(version, 10) || 0) < MAX_MAJOR_VERSION;
}

/** Of two that exclude each other, the one found first stays. */
function withoutExcluded(resolved: readonly Resolved[]): Resolved[] {
  const excluded = new Set<string>();
  for (const { technology } of resolved) {
    if (excluded.has(technology.name)) continue;
    for (const name of technology.excludes) excluded.add(name);
  }
  return resolved.filter(({ technology }) => !excluded.has(technology.name));
}

function addImplied(catalogue: Catalogue, resolved: readonly Resolved[]): Resolved[] {
  const all = [...resolved];
  const present = new Set(all.map(({ technology }) => technology));
  // The list grows while it is walked, so that what is implied implies in turn.
  for (const { technology, confidence } of all) {
    for (const implied of technology.implies) {
      const other = catalogue.byName.get(implied.name);
      if (other === undefined || present.has(other)) continue;
      present.add(other);
      all.push({
        technology: other,
        confidence: Math.min(confidence, implied.confidence),
        version: implied.version,
      });
    }
  }
  return all;
}

/** Technologies that matched, and whose condition the resolved ones now meet. */
function newlyMet(
  resolved: readonly Resolved[],
  detections: readonly Detection[],
  open: ReadonlySet<Technology>,
): Technology[] {
  const names = new Set(resolved.map(({ technology }) => technology.name));
  const categories = new Set(resolved.flatMap(({ technology }) => technology.fingerprint.cats));
  const waiting = new Set(
    detections
      .map(({ technology }) => technology)
      .filter((technology) => technology.isConditional && !open.has(technology)),
  );
  return [...waiting].filter(
    ({ requires, requiresCategory }) =>
      requires.some((name) => names.has(name)) || requiresCategory.some((id) => categories.has(id)),
  );
}

/** By priority of the category, then by name. */
function sortResolved({ categories }: Catalogue, resolved: readonly Resolved[]): Resolved[] {
  const priority = ({ technology }: Resolved) =>
    Math.max(0, ...technology.fingerprint.cats.map((id) => categories.get(id)?.priority ?? 0));
  return resolved.toSorted(
    (a, b) => priority(a) - priority(b) || (a.technology.name < b.technology.name ? -1 : 1),
  );
}
