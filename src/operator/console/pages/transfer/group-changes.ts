import type { FieldChange } from "../../api/journal.ts";

/** Changes of an import to one part of the configuration. */
export interface ChangeGroup {
  /** Name of the part, such as `accounts`. */
  readonly part: string;
  /** Names of the entries that are deleted. */
  readonly deleted: readonly string[];
  readonly others: readonly FieldChange[];
}

/** The entry that a change deletes: `accounts[one@x.test]` or, in a table, `prices.model`. null: it deletes none. */
function findDeletedEntry({ path, after }: FieldChange): string | null {
  if (after !== null) return null;
  const entry = /^\w+\[([^\]]*)\]$/.exec(path) ?? /^(?:model_aliases|model_routes|prices)\.(.+)$/.exec(path);
  return entry?.[1] ?? null;
}

/** Groups changes by the part of the configuration, with deletions apart. */
export function groupChanges(changes: readonly FieldChange[]): readonly ChangeGroup[] {
  const parts = new Map<string, { deleted: string[]; others: FieldChange[] }>();
  for (const change of changes) {
    const part = change.path.split(/[.[]/, 1)[0] ?? "";
    const group = parts.get(part) ?? { deleted: [], others: [] };
    parts.set(part, group);
    const deleted = findDeletedEntry(change);
    if (deleted === null) group.others.push(change);
    else group.deleted.push(deleted);
  }
  return Array.from(parts, ([part, group]) => ({ part, ...group }));
}
