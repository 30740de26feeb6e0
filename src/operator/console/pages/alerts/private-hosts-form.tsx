import { useState } from "preact/hooks";
import { savePrivateHosts } from "../../api/alerts.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/forms/field.tsx";
import { LeaveGuard } from "../../ui/forms/leave-guard.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { Panel } from "../../ui/page.tsx";
import { showToast } from "../../ui/toasts.tsx";
import { texts } from "./texts.ts";

interface PrivateHostsFormProps {
  readonly hosts: readonly string[];
  readonly onSaved: () => Promise<void>;
}

/** Form for the hosts in private networks that webhooks may use. */
export function PrivateHostsForm({ hosts, onSaved }: PrivateHostsFormProps) {
  /** null: no change. */
  const [draft, setDraft] = useState<string | null>(null);
  const { busy, error, onSubmit } = useAsyncAction();
  const save = async () => {
    const entries = (draft ?? hosts.join(" ")).split(/[\s,;]+/).filter((entry) => entry !== "");
    await savePrivateHosts(entries);
    await onSaved();
    setDraft(null);
    showToast(texts.privateHostsSaved);
  };
  return (
    <form onSubmit={onSubmit(save)} noValidate>
      <LeaveGuard unsaved={draft === null ? "" : texts.unsavedPrivateHosts} />
      <Panel title={texts.privateHosts}>
        <TextField
          label={texts.privateHostsLabel}
          value={draft ?? hosts.join(", ")}
          onChange={setDraft}
          mono
          placeholder="chat.internal, 10.0.0.5:8065"
          hint={texts.privateHostsHint}
        />
        <Problem error={error} />
        <p class="form-end">
          <Button kind="primary" type="submit" needs="operator" busy={busy}>
            {texts.savePrivateHosts}
          </Button>
        </p>
      </Panel>
    </form>
  );
}
