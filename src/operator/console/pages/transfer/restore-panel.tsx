import { useState } from "preact/hooks";
import { listVersions, restoreVersion, type SavedVersion } from "../../api/config.ts";
import { FieldChanges } from "../../shared/field-changes.tsx";
import { Button } from "../../ui/button.tsx";
import { formatTime } from "../../ui/format.ts";
import { Confirm } from "../../ui/forms/confirm.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { actionColumn, type Column, DataTable } from "../../ui/tables/data-table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { showToast } from "../../ui/toasts.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

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
      title={texts.confirmRestore}
      action={texts.restore}
      onClose={onClose}
      run={async () => {
        await restoreVersion(saved.version, false);
        showToast(texts.restored);
        await onRestored();
      }}
    >
      <div class="stack">
        <p>{texts.restoreExplanation(formatTime(saved.at))}</p>
        <Problem error={error} />
        {data !== null && data.changes.length === 0 && <Notice kind="info">{texts.noChanges}</Notice>}
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
    { title: texts.until, class: "tabular", cell: ({ at }) => <Timestamp at={at} /> },
    { title: texts.replacedBy, class: "mono", cell: ({ action }) => <TruncatedText text={action} /> },
    {
      title: texts.contained,
      class: "muted",
      cell: ({ keys, accounts }) => `${texts.keyCount(keys)}, ${words.accountCount(accounts)}`,
    },
    actionColumn((saved) => (
      <Button
        kind="quiet"
        needs="owner"
        label={texts.restoreVersion(saved.version)}
        onClick={() => setRestoring(saved)}
      >
        {texts.restore}
      </Button>
    )),
  ];
  return (
    <Panel title={texts.restore}>
      <div class="stack">
        <p class="muted">{texts.versionsLead}</p>
        <Problem error={error} retry={reload} />
        {data !== null && (
          <DataTable
            items={data.items}
            keyOf={({ version }) => String(version)}
            columns={columns}
            empty={<p class="muted">{texts.noVersions}</p>}
          />
        )}
      </div>
      {restoring !== null && (
        <RestoreDialog kept={restoring} onClose={() => setRestoring(null)} onRestored={reload} />
      )}
    </Panel>
  );
}
