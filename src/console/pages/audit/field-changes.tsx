import type { FieldChange } from "../../api/journal.ts";
import { Clipped } from "../../ui/clipped.tsx";
import { count } from "../../ui/format.ts";

interface FieldChangesProps {
  readonly changes: readonly FieldChange[];
  /** Number of changes that are not listed. */
  readonly more: number;
}

/** Lists changed fields with old and new values. */
export function FieldChanges({ changes, more }: FieldChangesProps) {
  return (
    <ul class="field-changes">
      {changes.map(({ path, before, after }) => (
        <li key={path}>
          <Clipped text={path} />{" "}
          <span class="mono">
            <span class="muted">
              <Clipped text={before ?? "none"} />
            </span>
            {" → "}
            <Clipped text={after ?? "none"} />
          </span>
        </li>
      ))}
      {more > 0 && <li class="muted">and {count(more)} more</li>}
    </ul>
  );
}
