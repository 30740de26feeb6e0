import { useState } from "preact/hooks";
import { exportConfig, importConfig, tryImport } from "../../api/config.ts";
import { Button } from "../../ui/button.tsx";
import { AreaField, SelectField } from "../../ui/field.tsx";
import { FileButton } from "../../ui/file-button.tsx";
import { LeaveGuard } from "../../ui/leave-guard.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { toast } from "../../ui/toasts.tsx";
import { useWork } from "../../ui/use-work.ts";
import { ChangeList } from "./change-list.tsx";
import { type Change, difference } from "./difference.ts";
import { parseConfig } from "./parse-config.ts";

type Mode = "merge" | "replace";

interface ImportPanelProps {
  readonly onImported: () => void;
}

/** Brings a configuration in, after its difference to the present one was shown. */
export function ImportPanel({ onImported }: ImportPanelProps) {
  const [text, setText] = useState("");
  const [mode, setMode] = useState<Mode>("merge");
  const [changes, setChanges] = useState<readonly Change[] | null>(null);
  /** Why the import has to be confirmed; empty: it has not. */
  const [loss, setLoss] = useState("");
  const { busy, error, run } = useWork();

  const edit = (next: string) => {
    setText(next);
    setChanges(null);
  };
  const compare = () =>
    run(async () => {
      const wanted = parseConfig(text);
      const [present, outcome] = await Promise.all([exportConfig(), tryImport(mode, wanted)]);
      setLoss(outcome.confirm_needed);
      setChanges(difference(present.config, outcome.config));
    });
  const apply = () =>
    run(async () => {
      await importConfig(mode, parseConfig(text), loss !== "");
      toast("Configuration imported");
      setChanges(null);
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
          hint="JSON, or base64 of it: what an export gives."
        />
        <div class="row">
          <FileButton name="Choose a file" accept=".json,.txt" onText={edit} />
        </div>
        <SelectField
          label="How"
          value={mode}
          onChange={(value) => {
            setMode(value === "replace" ? "replace" : "merge");
            setChanges(null);
          }}
          choices={[
            ["merge", "Merge: add to what is there"],
            ["replace", "Replace: what is not in it is gone"],
          ]}
        />
        <Problem error={error} />
        {changes === null && (
          <div>
            <Button kind="primary" busy={busy} disabled={text.trim() === ""} onClick={compare}>
              Show the difference
            </Button>
          </div>
        )}
        {changes !== null && (
          <>
            <ChangeList changes={changes} />
            {loss !== "" && (
              <Notice kind="warning">No key, or no account, is left when you apply this.</Notice>
            )}
            <div class="actions">
              <Button kind="primary" busy={busy} disabled={changes.length === 0} onClick={apply}>
                Apply these changes
              </Button>
              <Button kind="quiet" onClick={() => setChanges(null)}>
                Back
              </Button>
            </div>
          </>
        )}
      </div>
    </Panel>
  );
}
