import { Button } from "../button.tsx";
import { useLoaded } from "../loading/use-loaded.ts";
import { Notice } from "../notice.tsx";
import { DataTable } from "../tables/data-table.tsx";
import { words } from "../words.ts";
import { compareVersions } from "./edit-versions.ts";

/** The version of the entry that a form edits. */
export interface EntryVersion {
  /** Entity tag; undefined: the entry has none. */
  readonly tag: string | undefined;
  /** Reads the entry as it is now. */
  readonly read: () => Promise<object>;
  /** Reads the entry again, and shows the form with its present values. */
  readonly reload: () => Promise<void>;
}

interface ConflictProps {
  readonly busy: boolean;
  /** The body of the edit that was not saved. */
  readonly edit?: unknown;
  /** Reads the entry as it is now. Absent: the versions are not shown. */
  readonly read?: () => Promise<object>;
  readonly onReload: () => void;
  readonly onOverwrite: () => void;
}

/** Says that another edit came first, shows both versions side by side, and asks which one counts. */
export function Conflict({ busy, edit, read, onReload, onOverwrite }: ConflictProps) {
  const { data } = useLoaded(async () => (await read?.()) ?? null);
  const differences = data === null ? [] : compareVersions(edit, data);
  const actions = (
    <>
      <Button busy={busy} onClick={onReload}>
        {words.reload}
      </Button>
      <Button busy={busy} onClick={onOverwrite}>
        {words.overwrite}
      </Button>
    </>
  );
  return (
    <Notice kind="error" action={actions}>
      {words.changedMeanwhileWarning}
      {differences.length > 0 && (
        <DataTable
          items={differences}
          keyOf={({ path }) => path}
          class="versions"
          columns={[
            { title: words.field, class: "mono", cell: ({ path }) => path },
            { title: words.yourVersion, cell: ({ mine }) => mine || words.emptyValue },
            { title: words.currentVersion, cell: ({ current }) => current || words.emptyValue },
          ]}
        />
      )}
    </Notice>
  );
}
