import { useState } from "preact/hooks";
import { type AlertRule, saveRules } from "../../api/alerts.ts";
import { Button } from "../../ui/button.tsx";
import { CheckField, TextField } from "../../ui/forms/field.tsx";
import { LeaveGuard } from "../../ui/forms/leave-guard.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { Panel } from "../../ui/page.tsx";
import { showToast } from "../../ui/toasts.tsx";
import { parseRules, RULES, type RuleDraft, toRuleDraft } from "./rule-list.ts";
import { texts } from "./texts.ts";

interface RulesFormProps {
  readonly rules: Readonly<Record<string, AlertRule>>;
  readonly onSaved: () => Promise<void>;
}

type Drafts = Readonly<Record<string, RuleDraft>>;

/** Returns the drafts that differ from the saved ones. */
function changedDrafts(drafts: Drafts, saved: Drafts): Drafts {
  return Object.fromEntries(Object.entries(drafts).filter(([kind, draft]) => draft !== saved[kind]));
}

/** Form for the alert rules. */
export function RulesForm({ rules, onSaved }: RulesFormProps) {
  const [drafts, setDrafts] = useState<Drafts>({});
  /** Saved drafts. They are displayed until the reloaded list contains the same values. */
  const [sent, setSent] = useState<Drafts>({});
  const { busy, error, onSubmit } = useAsyncAction();
  const save = async () => {
    await saveRules(parseRules(drafts));
    setSent(drafts);
    await onSaved();
    setDrafts((now) => changedDrafts(now, drafts));
    setSent({});
    showToast(texts.rulesSaved);
  };
  return (
    <form onSubmit={onSubmit(save)} noValidate>
      <LeaveGuard unsaved={Object.keys(changedDrafts(drafts, sent)).length === 0 ? "" : texts.unsavedRules} />
      <Panel title={texts.rules} folds>
        <div class="setting-grid">
          {RULES.map(({ kind, name, threshold, hint }) => {
            const draft = drafts[kind] ?? toRuleDraft(rules[kind]);
            const change = (changes: Partial<RuleDraft>) =>
              setDrafts((current) => ({ ...current, [kind]: { ...draft, ...changes } }));
            return (
              <fieldset key={kind} class="stack">
                <legend>{name}</legend>
                <CheckField
                  label={texts.notify}
                  value={draft.enabled}
                  onChange={(enabled) => change({ enabled })}
                />
                {threshold !== "" && (
                  <TextField
                    label={threshold}
                    {...(hint !== undefined && { hint })}
                    type="number"
                    min={0}
                    value={draft.threshold}
                    disabled={!draft.enabled}
                    onChange={(value) => change({ threshold: value })}
                  />
                )}
                <TextField
                  label={texts.repeatAfterMinutes}
                  type="number"
                  min={1}
                  value={draft.quiet}
                  disabled={!draft.enabled}
                  onChange={(quiet) => change({ quiet })}
                />
              </fieldset>
            );
          })}
        </div>
        <Problem error={error} />
        <p class="form-end">
          <Button kind="primary" type="submit" needs="operator" busy={busy}>
            {texts.saveRules}
          </Button>
        </p>
      </Panel>
    </form>
  );
}
