import { useState } from "preact/hooks";
import { type ImportPreview, importConfig, previewImport } from "../../api/config.ts";
import { Button } from "../../ui/button.tsx";
import { formatCount } from "../../ui/count.ts";
import { Confirm } from "../../ui/forms/confirm.tsx";
import { AreaField, SelectField } from "../../ui/forms/field.tsx";
import { FileButton } from "../../ui/forms/file-button.tsx";
import { LeaveGuard } from "../../ui/forms/leave-guard.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { showToast } from "../../ui/toasts.tsx";
import { ImportChanges } from "./import-changes.tsx";
import { parseConfig } from "./parse-config.ts";
import { texts } from "./texts.ts";

type Mode = "merge" | "replace";

interface ImportPanelProps {
  readonly onImported: () => void;
}

/** Imports a configuration after showing the changes. */
export function ImportPanel({ onImported }: ImportPanelProps) {
  const [text, setText] = useState("");
  const [mode, setMode] = useState<Mode>("merge");
  /** Changes that the import would make, and why it needs confirmation; null: not compared yet. */
  const [outcome, setOutcome] = useState<ImportPreview | null>(null);
  const [confirming, setConfirming] = useState(false);
  const { busy, error, run } = useAsyncAction();

  const edit = (next: string) => {
    setText(next);
    setOutcome(null);
  };
  const compare = () => run(async () => setOutcome(await previewImport(mode, parseConfig(text))));
  const apply = async () => {
    await importConfig(mode, parseConfig(text), outcome?.confirm_needed !== undefined);
    showToast(texts.imported);
    setOutcome(null);
    setText("");
    onImported();
  };
  const removed = outcome?.removed ?? [];

  return (
    <Panel title={texts.import}>
      <LeaveGuard unsaved={text.trim() === "" ? "" : texts.unsavedImport} />
      <div class="stack">
        <AreaField
          label={texts.configuration}
          value={text}
          onChange={edit}
          rows={8}
          mono
          placeholder={texts.placeholder}
          hint={texts.configurationHint}
        />
        <div class="row">
          <FileButton
            name={texts.chooseFile}
            accept=".json,.txt"
            onFiles={async ([file]) => file && edit(await file.text())}
          />
        </div>
        <SelectField
          label={texts.mode}
          value={mode}
          onChange={(value) => {
            setMode(value === "replace" ? "replace" : "merge");
            setOutcome(null);
          }}
          choices={[
            ["merge", texts.merge],
            ["replace", texts.replace],
          ]}
        />
        <Problem error={error} />
        {outcome === null && (
          <div>
            <Button kind="primary" needs="owner" busy={busy} disabled={text.trim() === ""} onClick={compare}>
              {texts.showChanges}
            </Button>
          </div>
        )}
        {outcome !== null && (
          <>
            {outcome.changes.length === 0 ? (
              <Notice kind="info">{texts.noImportChanges}</Notice>
            ) : (
              <div class="changes">
                <h3 aria-live="polite">{texts.changeCount(outcome.changes.length + outcome.more)}</h3>
                <ImportChanges {...outcome} />
              </div>
            )}
            {outcome.confirm_needed !== undefined && <Notice kind="warning">{texts.nothingLeft}</Notice>}
            <div class="actions">
              {removed.length > 0 ? (
                <Button kind="danger" busy={busy} onClick={() => setConfirming(true)}>
                  {texts.deleteAndApply}
                </Button>
              ) : (
                <Button
                  kind="primary"
                  busy={busy}
                  disabled={outcome.changes.length === 0}
                  onClick={() => void run(apply)}
                >
                  {texts.applyChanges}
                </Button>
              )}
              <Button kind="quiet" onClick={() => setOutcome(null)}>
                {texts.back}
              </Button>
            </div>
          </>
        )}
      </div>
      {confirming && (
        <Confirm
          title={texts.confirmDeletion}
          action={texts.deleteAndApply}
          onClose={() => setConfirming(false)}
          run={apply}
        >
          <ul class="deletions">
            {removed.map(({ path, names }) => (
              <li key={path}>{`${texts.parts[path] ?? path}: ${formatCount(names.length)}`}</li>
            ))}
          </ul>
          <p>{texts.savedFirst}</p>
        </Confirm>
      )}
    </Panel>
  );
}
