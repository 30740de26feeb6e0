import { readGuardrails, saveGuardrails } from "../../api/guardrails.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { CheckField, TextField } from "../../ui/field.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { PanelForm } from "../../ui/panel-form.tsx";
import { words } from "../../ui/words.ts";
import { EXAMPLES } from "./examples.ts";
import {
  addRule,
  changeRule,
  type GuardrailsDraft,
  moveRuleUp,
  removeRule,
  toGuardrailChanges,
  toGuardrailsDraft,
} from "./guardrail-draft.ts";
import { RulePanel } from "./rule-fields.tsx";
import { texts } from "./texts.ts";
import { TryPanel } from "./try-panel.tsx";

/** Labels of the fields that the gateway can refuse, by their names in the configuration. */
const FIELD_LABELS: ReadonlyMap<string, string> = new Map([
  ["id", texts.id],
  ["name", words.name],
  ["max_chars", texts.maxChars],
  ["url", words.address],
  ["token", texts.token],
  ["model", words.model],
  ["timeout_ms", texts.timeout],
]);

function describeField(field: string): string {
  const expression = /^expressions\[(?<index>\d+)\]\.pattern$/.exec(field)?.groups?.["index"];
  if (expression !== undefined) return texts.expression(Number(expression) + 1);
  return FIELD_LABELS.get(field) ?? field;
}

/** Names the field of a rule that the gateway refused: `rules[0].url`. */
function labelOf(path: string, { rules }: GuardrailsDraft): string | undefined {
  const { index = "", field = "" } = /^rules\[(?<index>\d+)\]\.(?<field>.+)$/.exec(path)?.groups ?? {};
  const rule = rules[Number(index)];
  if (path.startsWith("private_hosts")) return texts.privateHosts;
  return rule === undefined ? undefined : `${rule.name || rule.id} (${describeField(field)})`;
}

/** Page for the rules that check requests and answers. `detail`: id of the rule that is open. */
export function GuardrailsPage({ detail }: { readonly detail: string }) {
  return (
    <Page title={texts.guardrails} lead={texts.lead}>
      <PanelForm
        read={readGuardrails}
        toDraft={toGuardrailsDraft}
        save={(draft, ifMatch) => saveGuardrails(toGuardrailChanges(draft), ifMatch)}
        labelOf={labelOf}
        unsaved={() => texts.unsaved}
        action={texts.save}
        saved={texts.saved}
        fields={({ entry, draft, faults, change }) => {
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
                    open={rule.id === detail || !stored.has(rule.key) || isFaulty(faults, index)}
                    faultOf={(field) => faults[`rules[${index}].${field}`] ?? ""}
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
                    error={Object.entries(faults).find(([path]) => path.startsWith("private_hosts"))?.[1]}
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

const isFaulty = (faults: object, index: number): boolean =>
  Object.keys(faults).some((path) => path.startsWith(`rules[${index}]`));
