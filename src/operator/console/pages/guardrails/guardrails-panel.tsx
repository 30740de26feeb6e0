import { useState } from "preact/hooks";
import { isEditConflict } from "../../api/client.ts";
import { type Guardrails, readGuardrails, saveGuardrails } from "../../api/guardrails.ts";
import { Button } from "../../ui/button.tsx";
import { Conflict } from "../../ui/conflict.tsx";
import { AreaField, CheckField, TextField } from "../../ui/field.tsx";
import { LeaveGuard } from "../../ui/leave-guard.tsx";
import { Panel } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { showToast } from "../../ui/toasts.tsx";
import { useAsyncAction } from "../../ui/use-async-action.ts";
import { useLoaded } from "../../ui/use-loaded.ts";
import { type GuardrailDraft, toGuardrailChanges, toGuardrailDraft } from "./guardrail-draft.ts";
import { texts } from "./texts.ts";

/** A draft, and the checks from which it was made. */
interface Edit {
  readonly draft: GuardrailDraft;
  readonly base: Guardrails;
}

/** Form for the checks of requests and answers. */
export function GuardrailsPanel() {
  const { data, error: failure, reload } = useLoaded(readGuardrails);
  /** null: no change. */
  const [edit, setEdit] = useState<Edit | null>(null);
  const [isConflict, setIsConflict] = useState(false);
  const { busy, error, run, onSubmit } = useAsyncAction();
  if (data === null) return <Problem error={failure} retry={reload} />;
  const { draft, base } = edit ?? { draft: toGuardrailDraft(data), base: data };
  const change = (changes: Partial<GuardrailDraft>) => setEdit({ base, draft: { ...draft, ...changes } });
  const save = async (ifMatch: string | undefined) => {
    setIsConflict(false);
    try {
      await saveGuardrails(toGuardrailChanges(draft), ifMatch);
    } catch (thrown) {
      if (!isEditConflict(thrown)) throw thrown;
      setIsConflict(true);
      return;
    }
    await reload();
    setEdit(null);
    showToast(texts.saved);
  };
  const discard = async () => {
    setIsConflict(false);
    await reload();
    setEdit(null);
  };
  return (
    <form onSubmit={onSubmit(() => save(base.tag))} noValidate>
      <LeaveGuard unsaved={edit === null ? "" : texts.unsaved} />
      <Panel title={texts.guardrails}>
        <p class="muted">{texts.lead}</p>
        <AreaField
          label={texts.rules}
          hint={texts.rulesHint}
          value={draft.rules}
          onChange={(rules) => change({ rules })}
          rows={8}
          mono
        />
        <TextField
          label={texts.privateHosts}
          hint={texts.privateHostsHint}
          value={draft.hosts}
          onChange={(hosts) => change({ hosts })}
          mono
        />
        <CheckField
          label={texts.allowUnchecked}
          value={draft.allowsUnchecked}
          onChange={(allowsUnchecked) => change({ allowsUnchecked })}
        />
        <Problem error={error} />
        {isConflict && (
          <Conflict
            busy={busy}
            onReload={() => void run(discard)}
            onOverwrite={() => void run(() => save(undefined))}
          />
        )}
        <p class="form-end">
          <Button kind="primary" type="submit" busy={busy}>
            {texts.save}
          </Button>
        </p>
      </Panel>
    </form>
  );
}
