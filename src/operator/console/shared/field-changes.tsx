import type { FieldChange } from "../api/audit.ts";
import { formatCount } from "../ui/count.ts";
import { TruncatedText } from "../ui/truncated-text.tsx";
import { words } from "../ui/words.ts";

interface FieldChangesProps {
  /** Names for ids in paths, such as `api_keys[key_1].owner`. */
  readonly names?: ReadonlyMap<string, string>;
  readonly changes: readonly FieldChange[];
  /** Number of changes that are not listed. */
  readonly more: number;
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** Returns a path with the names of its entries instead of their ids, where they have names. */
const nameEntries = (path: string, names: ReadonlyMap<string, string>): string =>
  path.replace(/\[([^[\]]*)\]/g, (entry, id: string) => (names.get(id) ? `[${names.get(id)}]` : entry));

/** Lists changed fields with old and new values. */
export function FieldChanges({ changes, more, names = NO_NAMES }: FieldChangesProps) {
  if (changes.length + more === 0) return null;
  return (
    <ul class="field-changes">
      {changes.map(({ path, before, after }) => (
        <li key={path}>
          <TruncatedText text={nameEntries(path, names)} />{" "}
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
