import type { FieldChange } from "../../api/audit.ts";
import type { ImportPreview } from "../../api/config.ts";

/** Changes of an import to one part of the configuration. */
export interface ChangeGroup {
  /** Name of the part, such as `accounts`. */
  readonly part: string;
  /** Names of the entries that are deleted. */
  readonly deleted: readonly string[];
  readonly others: readonly FieldChange[];
}

const partOf = (path: string): string => path.split(/[.[]/, 1)[0] ?? "";

/** Groups changes by the part of the configuration, with deletions apart. */
export function groupChanges({
  changes,
  removed,
}: Pick<ImportPreview, "changes" | "removed">): readonly ChangeGroup[] {
  const deletions = new Set(
    removed.flatMap(({ path, names }) => names.flatMap((name) => [`${path}[${name}]`, `${path}.${name}`])),
  );
  const others = changes.filter(({ path }) => !deletions.has(path));
  const parts = new Set([...removed, ...others].map(({ path }) => partOf(path)));
  return Array.from(parts, (part) => ({
    part,
    deleted: removed.flatMap(({ path, names }) => (partOf(path) === part ? names : [])),
    others: others.filter(({ path }) => partOf(path) === part),
  }));
}
