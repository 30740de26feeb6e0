import type { FieldChange } from "../api/journal.ts";
import { formatCount } from "../ui/count.ts";
import { TruncatedText } from "../ui/truncated-text.tsx";
import { words } from "../ui/words.ts";

interface FieldChangesProps {
  readonly changes: readonly FieldChange[];
  /** Number of changes that are not listed. */
  readonly more: number;
}

/** Lists changed fields with old and new values. */
export function FieldChanges({ changes, more }: FieldChangesProps) {
  if (changes.length + more === 0) return null;
  return (
    <ul class="field-changes">
      {changes.map(({ path, before, after }) => (
        <li key={path}>
          <TruncatedText text={path} />{" "}
          <span class="mono">
            <span class="muted">
              <TruncatedText text={before ?? words.emptyValue} />
            </span>
            {" → "}
            <TruncatedText text={after ?? words.emptyValue} />
          </span>
        </li>
      ))}
      {more > 0 && <li class="muted">{words.andMore(formatCount(more))}</li>}
    </ul>
  );
}
