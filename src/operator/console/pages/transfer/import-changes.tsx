import type { ImportPreview } from "../../api/config.ts";
import { FieldChanges } from "../../shared/field-changes.tsx";
import { formatCount } from "../../ui/count.ts";
import { words } from "../../ui/words.ts";
import { groupChanges } from "./group-changes.ts";
import { texts } from "./texts.ts";

/** Most deleted entries that are named; a longer list says how many more there are. */
const MAX_NAMES = 50;

function Deletions({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return null;
  const more = names.length - MAX_NAMES;
  return (
    <p class="deletions">
      <strong>{texts.deletes(names.length)}</strong> {names.slice(0, MAX_NAMES).join(", ")}
      {more > 0 && ` ${words.andMore(formatCount(more))}`}
    </p>
  );
}

/** Shows what an import would change, by the part of the configuration, with deletions in red. */
export function ImportChanges(preview: Pick<ImportPreview, "changes" | "removed" | "more">) {
  const { more } = preview;
  return (
    <>
      {groupChanges(preview).map(({ part, deleted, others }) => (
        <section key={part} aria-label={texts.parts[part] ?? part}>
          <h4>{texts.parts[part] ?? part}</h4>
          <Deletions names={deleted} />
          {others.length > 0 && <FieldChanges changes={others} more={0} />}
        </section>
      ))}
      {more > 0 && <p class="muted">{words.andMore(formatCount(more))}</p>}
    </>
  );
}
