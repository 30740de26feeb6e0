import { useState } from "preact/hooks";
import { listVersions, restoreVersion, type SavedVersion } from "../../api/journal.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { actionColumn, type Column, DataTable } from "../../ui/data-table.tsx";
import { formatPlural, formatTime } from "../../ui/format.ts";
import { Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { showToast } from "../../ui/toasts.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { useLoaded } from "../../ui/use-loaded.ts";
import { FieldChanges } from "../audit/field-changes.tsx";

interface RestoreDialogProps {
  readonly kept: SavedVersion;
  readonly onClose: () => void;
  readonly onRestored: () => Promise<void>;
}

/** Dialog that shows the changes of a restore before executing it. */
function RestoreDialog({ kept: saved, onClose, onRestored }: RestoreDialogProps) {
  const { data, error } = useLoaded(() => restoreVersion(saved.version, true));
  return (
    <Confirm
      title="Restore this configuration?"
      action="Restore"
      onClose={onClose}
      run={async () => {
        await restoreVersion(saved.version, false);
        showToast("Configuration restored");
        await onRestored();
      }}
    >
      <div class="stack">
        <p>
          Restores the configuration of {formatTime(saved.at)}, except the admin password. The current
          configuration is saved first, so that you can undo this.
        </p>
        <Problem error={error} />
        {data !== null && data.changes.length === 0 && <Notice kind="info">Nothing would change.</Notice>}
        {data !== null && data.changes.length > 0 && (
          <div class="changes">
            <FieldChanges {...data} />
          </div>
        )}
      </div>
    </Confirm>
  );
}

/** Lists configurations that were saved before imports and other large changes. */
export function RestorePanel() {
  const { data, error, reload } = useLoaded(listVersions);
  const [restoring, setRestoring] = useState<SavedVersion | null>(null);
  const columns: readonly Column<SavedVersion>[] = [
    { title: "Until", class: "tabular", cell: ({ at }) => <Timestamp at={at} /> },
    { title: "Replaced by", class: "mono", cell: ({ action }) => <TruncatedText text={action} /> },
    {
      title: "Had",
      class: "muted",
      cell: ({ keys, accounts }) => `${formatPlural(keys, "key")}, ${formatPlural(accounts, "account")}`,
    },
    actionColumn((saved) => (
      <Button kind="quiet" label={`Restore version ${saved.version}`} onClick={() => setRestoring(saved)}>
        Restore
      </Button>
    )),
  ];
  return (
    <Panel title="Restore">
      <div class="stack">
        <p class="muted">
          The configuration is kept before imports and changes to whole lists, the newest twenty times.
        </p>
        <Problem error={error} retry={reload} />
        {data !== null && (
          <DataTable
            items={data.items}
            keyOf={({ version }) => String(version)}
            columns={columns}
            empty={<p class="muted">Nothing is kept yet.</p>}
          />
        )}
      </div>
      {restoring !== null && (
        <RestoreDialog kept={restoring} onClose={() => setRestoring(null)} onRestored={reload} />
      )}
    </Panel>
  );
}
