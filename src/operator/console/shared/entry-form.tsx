import type { ComponentChildren } from "preact";
import { TextField } from "../ui/forms/field.tsx";
import { FormDialog, type FormDialogProps } from "../ui/forms/form-dialog.tsx";
import { words } from "../ui/words.ts";

interface EntryFormProps extends Omit<FormDialogProps, "title" | "action"> {
  /** Noun for an entry of the list, within a sentence. */
  readonly noun: string;
  /** Whether the form adds an entry. */
  readonly isNew: boolean;
}

/** The form of an entry of a list that is added or changed: a key, a team, a user, a tag or an administrator. */
export function EntryForm({ noun, isNew, ...props }: EntryFormProps) {
  const title = isNew ? words.addNoun(noun) : words.editNoun(noun);
  return <FormDialog {...props} title={title} action={isNew ? title : words.save} />;
}

interface EntryFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

interface IdFieldProps extends EntryFieldProps {
  readonly label: string;
  readonly hint: ComponentChildren;
  readonly isNew: boolean;
}

/** The id of an entry. It cannot be changed later. */
export function IdField({ isNew, ...props }: IdFieldProps) {
  return <TextField {...props} path="id" disabled={!isNew} required mono focus={isNew} />;
}

export function RemarkField(props: EntryFieldProps) {
  return <TextField {...props} label={words.remark} path="remark" />;
}
