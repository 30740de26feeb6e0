import { readGuardrails, saveGuardrails } from "../../api/guardrails.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { CheckField, TextField } from "../../ui/forms/field.tsx";
import { PanelForm } from "../../ui/forms/panel-form.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { EXAMPLES } from "./examples.ts";
import {
  addRule,
  changeRule,
  moveRuleUp,
  removeRule,
  toGuardrailChanges,
  toGuardrailsDraft,
} from "./guardrail-draft.ts";
import { RulePanel } from "./rule-fields.tsx";
import { texts } from "./texts.ts";
import { TryPanel } from "./try-panel.tsx";

/** Page for the rules that check requests and answers. `detail`: id of the rule that is open. */
export function GuardrailsPage({ detail }: { readonly detail: string }) {
  return (
    <Page title={texts.guardrails} lead={texts.lead}>
      <PanelForm
        read={readGuardrails}
        toDraft={toGuardrailsDraft}
        save={(draft, ifMatch) => saveGuardrails(toGuardrailChanges(draft), ifMatch)}
        unsaved={() => texts.unsaved}
        action={texts.save}
        saved={texts.saved}
        fields={({ entry, draft, change }) => {
          const stored = new Set(entry.rules.map(({ id }) => id));
          return (
            <>
              <Panel title={texts.rules}>
                {draft.rules.length === 0 && <Empty icon="guardrails" title={texts.noRules} />}
                {draft.rules.map((rule, index) => (
                  <RulePanel
                    key={rule.key}
                    rule={rule}
                    isStored={stored.has(rule.key)}
                    open={rule.id === detail || !stored.has(rule.key)}
                    path={`rules[${index}]`}
                    onChange={(changes) => change(changeRule(draft, index, changes))}
                    onRemove={() => change(removeRule(draft, index))}
                    onMoveUp={index === 0 ? undefined : () => change(moveRuleUp(draft, index))}
                  />
                ))}
                <div class="add-rule">
                  <p>{texts.addRule}</p>
                  <div class="actions">
                    {EXAMPLES.map(({ label, rule }) => (
                      <Button key={rule.id} onClick={() => change(addRule(draft, rule))}>
                        {label}
                      </Button>
                    ))}
                  </div>
                </div>
              </Panel>
              <Panel title={texts.allRules}>
                <div class="stack">
                  <TextField
                    label={texts.privateHosts}
                    hint={texts.privateHostsHint}
                    mono
                    value={draft.hosts}
                    path="private_hosts"
                    onChange={(hosts) => change({ ...draft, hosts })}
                  />
                  <CheckField
                    label={texts.allowUnchecked}
                    hint={texts.allowUncheckedHint}
                    value={draft.allowsUnchecked}
                    onChange={(allowsUnchecked) => change({ ...draft, allowsUnchecked })}
                  />
                </div>
              </Panel>
              <TryPanel draft={draft} />
            </>
          );
        }}
      />
    </Page>
  );
}
