import { useState } from "preact/hooks";
import { ROLES, type Role } from "../../../../core/config/roles.ts";
import { type Administrator, addAdministrator, changeAdministrator } from "../../api/administrators.ts";
import { EntryForm, IdField } from "../../shared/entry-form.tsx";
import type { EditFormProps } from "../../ui/forms/editing.tsx";
import { CheckField, type Choice, SelectField, TextField } from "../../ui/forms/field.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

const ROLE_CHOICES: readonly Choice[] = ROLES.map((role) => [role, texts.roles[role]]);

interface AdministratorFormProps extends EditFormProps {
  /** null: a new administrator. */
  readonly administrator: Administrator | null;
}

/** Form that adds or changes an administrator. */
export function AdministratorForm({ administrator, version, onClose, onSaved }: AdministratorFormProps) {
  const [id, setId] = useState(administrator?.id ?? "");
  const [name, setName] = useState(administrator?.name ?? "");
  const [role, setRole] = useState<Role>(administrator?.role ?? "operator");
  const [password, setPassword] = useState("");
  const [removesPassword, setRemovesPassword] = useState(false);
  const [email, setEmail] = useState(administrator?.email ?? "");
  const [subject, setSubject] = useState(administrator?.oidc_subject ?? "");
  const [disabled, setDisabled] = useState(administrator?.disabled ?? false);
  const submit = async (onSucceeded: () => void, ifMatch: string | undefined) => {
    const fields = { name, role, email, oidc_subject: subject, disabled };
    if (administrator === null) {
      await addAdministrator({ id, ...fields, ...(password !== "" && { password }) });
    } else {
      const change = removesPassword ? { password: null } : password !== "" ? { password } : {};
      await changeAdministrator(administrator.id, { ...fields, ...change }, ifMatch);
    }
    onSucceeded();
    await onSaved(texts.saved(name || id));
  };
  return (
    <EntryForm
      noun={texts.noun}
      isNew={administrator === null}
      submit={submit}
      version={version}
      onClose={onClose}
    >
      <IdField
        label={texts.signInName}
        hint={texts.signInNameHint}
        value={id}
        onChange={setId}
        isNew={administrator === null}
      />
      <TextField
        label={texts.fullName}
        path="name"
        value={name}
        onChange={setName}
        focus={administrator !== null}
      />
      <SelectField
        label={texts.role}
        path="role"
        hint={texts.roleHints[role]}
        value={role}
        onChange={(text) => setRole(ROLES.find((each) => each === text) ?? "viewer")}
        choices={ROLE_CHOICES}
      />
      <TextField
        label={words.password}
        path="password"
        type="password"
        autocomplete="new-password"
        value={password}
        onChange={setPassword}
        disabled={removesPassword}
        hint={administrator?.has_password === true ? texts.passwordKeptHint : texts.passwordHint}
      />
      {administrator?.has_password === true && (
        <CheckField label={texts.removePassword} value={removesPassword} onChange={setRemovesPassword} />
      )}
      <TextField
        label={texts.email}
        path="email"
        type="email"
        value={email}
        onChange={setEmail}
        hint={texts.emailHint}
      />
      <TextField
        label={texts.subject}
        path="oidc_subject"
        value={subject}
        onChange={setSubject}
        hint={texts.subjectHint}
        mono
      />
      <CheckField
        label={texts.disabledTitle}
        value={disabled}
        onChange={setDisabled}
        hint={texts.disabledHint}
      />
    </EntryForm>
  );
}
