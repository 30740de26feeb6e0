import { useState } from "preact/hooks";
import { checkText, type GuardrailVerdict } from "../../api/guardrails.ts";
import { Button } from "../../ui/button.tsx";
import { AreaField, SelectField } from "../../ui/forms/field.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { type GuardrailsDraft, toGuardrailChanges } from "./guardrail-draft.ts";
import { texts } from "./texts.ts";

function Verdict({ verdict }: { readonly verdict: GuardrailVerdict }) {
  if (!verdict.allowed) return <Notice kind="warning">{texts.denied(verdict.message)}</Notice>;
  if (!verdict.masked) return <Notice kind="success">{texts.allowed}</Notice>;
  return (
    <Notice kind="info">
      {texts.masked}
      <pre>{verdict.text}</pre>
    </Notice>
  );
}

/** Checks a text by the rules of the form, also before they are saved. */
export function TryPanel({ draft }: { readonly draft: GuardrailsDraft }) {
  const [text, setText] = useState("");
  const [stage, setStage] = useState<"before" | "after">("before");
  const [verdict, setVerdict] = useState<GuardrailVerdict | null>(null);
  const { busy, error, run } = useAsyncAction();
  const check = async () => {
    setVerdict(null);
    const { rules, private_hosts } = toGuardrailChanges(draft);
    setVerdict(await checkText({ text, stage, rules, private_hosts }));
  };
  return (
    <Panel title={texts.tryIt}>
      <div class="stack">
        <p class="muted">{texts.tryLead}</p>
        <AreaField label={texts.text} rows={3} value={text} onChange={setText} />
        <div class="inline-form">
          <SelectField
            label={texts.checkedAs}
            value={stage}
            choices={[
              ["before", texts.stages.before],
              ["after", texts.stages.after],
            ]}
            onChange={(value) => setStage(value === "after" ? "after" : "before")}
          />
          <Button busy={busy} disabled={text === ""} onClick={() => void run(check)}>
            {texts.checkText}
          </Button>
        </div>
        <Problem error={error} />
        <div aria-live="polite">{verdict !== null && <Verdict verdict={verdict} />}</div>
      </div>
    </Panel>
  );
}
