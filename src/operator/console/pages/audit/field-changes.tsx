import type { FieldChange } from "../../api/journal.ts";
import { formatCount } from "../../ui/format.ts";
import { TruncatedText } from "../../ui/truncated-text.tsx";

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
          <TruncatedText text={path} />{" "}
          <span class="mono">
            <span class="muted">
              <TruncatedText text={before ?? "none"} />
            </span>
            {" → "}
            <TruncatedText text={after ?? "none"} />
          </span>
        </li>
      ))}
      {more > 0 && <li class="muted">and {formatCount(more)} more</li>}
    </ul>
  );
}
