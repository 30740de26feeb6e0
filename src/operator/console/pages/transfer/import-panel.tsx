import { useState } from "preact/hooks";
import { importConfig, previewImport } from "../../api/config.ts";
import { Button } from "../../ui/button.tsx";
import { AreaField, SelectField } from "../../ui/field.tsx";
import { FileButton } from "../../ui/file-button.tsx";
import { formatPlural } from "../../ui/format.ts";
import { LeaveGuard } from "../../ui/leave-guard.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { showToast } from "../../ui/toasts.tsx";
import { useAsyncAction } from "../../ui/use-async-action.ts";
import { FieldChanges } from "../audit/field-changes.tsx";
import { parseConfig } from "./parse-config.ts";

type Mode = "merge" | "replace";

interface ImportPanelProps {
  readonly onImported: () => void;
}

/** Imports a configuration after showing the changes. */
export function ImportPanel({ onImported }: ImportPanelProps) {
  const [text, setText] = useState("");
  const [mode, setMode] = useState<Mode>("merge");
  /** Changes that the import would make, and why it needs confirmation; null: not compared yet. */
  const [outcome, setOutcome] = useState<Awaited<ReturnType<typeof previewImport>> | null>(null);
  const { busy, error, run } = useAsyncAction();

  const edit = (next: string) => {
    setText(next);
    setOutcome(null);
  };
  const compare = () => run(async () => setOutcome(await previewImport(mode, parseConfig(text))));
  const apply = () =>
    run(async () => {
      await importConfig(mode, parseConfig(text), outcome !== null && outcome.confirm_needed !== "");
      showToast("Configuration imported");
      setOutcome(null);
      setText("");
      onImported();
    });

  return (
    <Panel title="Import">
      <LeaveGuard unsaved={text.trim() === "" ? "" : "a configuration that was not imported"} />
      <div class="stack">
        <AreaField
          label="Configuration"
          value={text}
          onChange={edit}
          rows={8}
          mono
          placeholder='{"api_keys": [{"key": "sk-…"}], "accounts": […]}'
          hint="An export: JSON, or JSON in base64."
        />
        <div class="row">
          <FileButton name="Choose a file" accept=".json,.txt" onText={edit} />
        </div>
        <SelectField
          label="How"
          value={mode}
          onChange={(value) => {
            setMode(value === "replace" ? "replace" : "merge");
            setOutcome(null);
          }}
          choices={[
            ["merge", "Merge: add to what is there"],
            ["replace", "Replace: what is not in it is gone"],
          ]}
        />
        <Problem error={error} />
        {outcome === null && (
          <div>
            <Button kind="primary" busy={busy} disabled={text.trim() === ""} onClick={compare}>
              Show the difference
            </Button>
          </div>
        )}
        {outcome !== null && (
          <>
            {outcome.changes.length === 0 ? (
              <Notice kind="info">Nothing would change: all of it is there already.</Notice>
            ) : (
              <div class="changes">
                <h3 aria-live="polite">{formatPlural(outcome.changes.length + outcome.more, "change")}</h3>
                <FieldChanges {...outcome} />
              </div>
            )}
            {outcome.confirm_needed !== "" && (
              <Notice kind="warning">No key, or no account, is left when you apply this.</Notice>
            )}
            <div class="actions">
              <Button kind="primary" busy={busy} disabled={outcome.changes.length === 0} onClick={apply}>
                Apply these changes
              </Button>
              <Button kind="quiet" onClick={() => setOutcome(null)}>
                Back
              </Button>
            </div>
          </>
        )}
      </div>
    </Panel>
  );
}
