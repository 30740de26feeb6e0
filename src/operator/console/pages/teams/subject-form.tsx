import { useState } from "preact/hooks";
import { addSubject, changeSubject, type Subject, type SubjectList } from "../../api/subjects.ts";
import { EntryForm, IdField, RemarkField } from "../../shared/entry-form.tsx";
import { GuardrailChoices } from "../../shared/guardrail-choices.tsx";
import { HistoryModeField } from "../../shared/history-mode-field.tsx";
import { parseLimits, parseList, toLimitDraft } from "../../shared/limit-draft.ts";
import { AllowedTagsField, SharedLimitFields } from "../../shared/limit-fields.tsx";
import type { EditFormProps } from "../../ui/forms/editing.tsx";
import { TextField } from "../../ui/forms/field.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

interface SubjectFormProps extends EditFormProps {
  readonly list: SubjectList;
  /** null: a new entry. */
  readonly subject: Subject | null;
}

/** Form that adds or changes a team, a user or a tag. */
export function SubjectForm({ list, subject, version, onClose, onSaved }: SubjectFormProps) {
  const [id, setId] = useState(subject?.id ?? "");
  const [name, setName] = useState(subject?.name ?? "");
  const [remark, setRemark] = useState(subject?.remark ?? "");
  const [history, setHistory] = useState(subject?.history ?? "full");
  const [guardrails, setGuardrails] = useState<readonly string[]>(subject?.guardrails ?? []);
  const [draft, setDraft] = useState(() => toLimitDraft(subject));
  const submit = async (onSucceeded: () => void, ifMatch: string | undefined) => {
    const limits = parseLimits(draft, subject?.limits);
    const fields = {
      name,
      remark,
      history,
      limits,
      guardrails,
      models: parseList(draft["models"] ?? ""),
      ...(list !== "tags" && { allowed_tags: parseList(draft["allowed_tags"] ?? "") }),
    };
    if (subject === null) await addSubject(list, { id, ...fields });
    else await changeSubject(list, subject.id, fields, ifMatch);
    onSucceeded();
    await onSaved(texts.saved(name || id));
  };
  return (
    <EntryForm
      noun={texts.nouns[list]}
      isNew={subject === null}
      submit={submit}
      version={version}
      onClose={onClose}
      wide
    >
      <IdField label={texts.id} hint={texts.idHint} value={id} onChange={setId} isNew={subject === null} />
      <TextField
        label={words.name}
        path="name"
        value={name}
        onChange={setName}
        hint={texts.nameHint}
        focus={subject !== null}
      />
      <RemarkField value={remark} onChange={setRemark} />
      <HistoryModeField value={history} onChange={setHistory} />
      <SharedLimitFields draft={draft} onChange={setDraft} />
      {list !== "tags" && <AllowedTagsField draft={draft} onChange={setDraft} />}
      <GuardrailChoices chosen={guardrails} onChange={setGuardrails} />
    </EntryForm>
  );
}
