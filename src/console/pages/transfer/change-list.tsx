import { Badge, type Tone } from "../../ui/badge.tsx";
import { Clipped } from "../../ui/clipped.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { plural } from "../../ui/format.ts";
import { Notice } from "../../ui/notice.tsx";
import type { Change } from "./difference.ts";

const SHOWN = 300;
const TONES: Readonly<Record<Change["kind"], Tone>> = { added: "good", removed: "bad", changed: "warn" };

const COLUMNS: readonly Column<Change>[] = [
  { title: "What", cell: ({ kind }) => <Badge tone={TONES[kind]}>{kind}</Badge> },
  {
    title: "Where",
    cell: ({ path }) => path.flatMap((part, at) => [at === 0 ? "" : " › ", <Clipped key={at} text={part} />]),
  },
  { title: "Before", class: "mono muted", cell: ({ before }) => <Clipped text={before} /> },
  { title: "After", class: "mono", cell: ({ after }) => <Clipped text={after} /> },
];

/** What an import would do, before it does it. */
export function ChangeList({ changes }: { readonly changes: readonly Change[] }) {
  if (changes.length === 0) {
    return <Notice kind="info">Nothing would change: all of it is there already.</Notice>;
  }
  const amount = (kind: Change["kind"]) => changes.filter((change) => change.kind === kind).length;
  return (
    <div>
      <h3 aria-live="polite">
        {plural(changes.length, "change")}: {amount("added")} added, {amount("changed")} changed,{" "}
        {amount("removed")} removed
      </h3>
      <DataTable
        items={changes}
        keyOf={({ path }) => path.join("\n")}
        columns={COLUMNS}
        most={SHOWN}
        box="changes"
      />
    </div>
  );
}
