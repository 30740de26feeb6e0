import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Versioned } from "../../api/client.ts";
import type { Undo } from "../../api/undo.ts";
import type { NeededRole } from "../../own-user.ts";
import { Button } from "../button.tsx";
import { Icon } from "../icon.tsx";
import { showToast, showUndoToast } from "../toasts.tsx";
import { words } from "../words.ts";
import { Confirm } from "./confirm.tsx";
import type { EntryVersion } from "./conflict.tsx";
import { LoadedForm } from "./loaded-form.tsx";

/** State of a list whose items can be added, changed and deleted: which dialog is open. */
export interface Editing<T> {
  readonly doing:
    | { readonly what: "nothing" | "add" }
    | { readonly what: "edit" | "delete"; readonly item: T };
  add(): void;
  edit(item: T): void;
  /** Opens the dialog that confirms the deletion. */
  remove(item: T): void;
  close(): void;
  /** Shows a message about the change and reloads the list. */
  changed(message: string, undo?: Undo | null): Promise<void>;
}

/** `reload` reloads the list. */
export function useEditing<T>(reload: () => Promise<void>): Editing<T> {
  const [state, setState] = useState<Editing<T>["doing"]>({ what: "nothing" });
  return {
    doing: state,
    add: () => setState({ what: "add" }),
    edit: (item) => setState({ what: "edit", item }),
    remove: (item) => setState({ what: "delete", item }),
    close: () => setState({ what: "nothing" }),
    changed: async (message, undo = null) => {
      if (undo === null) showToast(message);
      else showUndoToast(message, undo, reload);
      await reload();
    },
  };
}

interface AddButtonProps {
  /** Noun for an item, within a sentence. */
  readonly noun: string;
  /** The role that editing needs. */
  readonly needs?: NeededRole;
  readonly onClick: () => void;
}

/** The main action of a list. */
export function AddButton({ noun, needs = "operator", onClick }: AddButtonProps) {
  return (
    <Button kind="primary" needs={needs} onClick={onClick}>
      <Icon name="plus" />
      {words.addNoun(noun)}
    </Button>
  );
}

interface EditButtonsProps<T> {
  readonly editing: Editing<T>;
  readonly item: T;
  /** The role that editing needs. */
  readonly needs?: NeededRole;
}

/** The buttons of each list item. */
export function EditButtons<T>({ editing, item, needs = "operator" }: EditButtonsProps<T>) {
  return (
    <div class="button-pair">
      <Button kind="quiet" needs={needs} onClick={() => editing.edit(item)}>
        {words.edit}
      </Button>
      <Button kind="quiet" needs={needs} onClick={() => editing.remove(item)}>
        {words.delete}
      </Button>
    </div>
  );
}

/** Props of every form that adds or changes an item. */
export interface EditFormProps {
  /** The version of the item; undefined: it is new, or has none. */
  readonly version?: EntryVersion;
  readonly onClose: () => void;
  readonly onSaved: (message: string) => Promise<void>;
}

interface EditDialogsProps<T extends object> {
  readonly editing: Editing<T>;
  /** Noun for an item, within a sentence. */
  readonly noun: string;
  /** Renders the form for an item; null: a new item. */
  readonly form: (item: T | null, props: EditFormProps) => ComponentChildren;
  /** Reads the item again before its form opens, with its version. Absent: items have no versions. */
  readonly read?: (item: T) => Promise<Versioned<T>>;
  /** Deletes the item. Resolves to a function that restores it. */
  readonly remove: (item: T) => Promise<Undo | null>;
  /** Renders the consequences of the deletion. */
  readonly warning: (item: T) => ComponentChildren;
}

/** The open dialog of a list. */
export function EditDialogs<T extends object>({
  editing,
  noun,
  form,
  read,
  remove,
  warning,
}: EditDialogsProps<T>) {
  const { doing: state, close, changed } = editing;
  switch (state.what) {
    case "nothing":
      return null;
    case "add":
      return <>{form(null, { onClose: close, onSaved: changed })}</>;
    case "edit": {
      const { item } = state;
      if (read === undefined) return <>{form(item, { onClose: close, onSaved: changed })}</>;
      return (
        <LoadedForm
          title={words.editNoun(noun)}
          read={() => read(item)}
          onClose={close}
          form={(entry, version) => form(entry, { version, onClose: close, onSaved: changed })}
        />
      );
    }
    case "delete":
      return (
        <Confirm
          title={words.confirmDeletion(noun)}
          action={words.deleteAction(noun)}
          onClose={close}
          run={async () => {
            const undo = await remove(state.item);
            await changed(words.deleted(noun), undo);
          }}
        >
          <p>{warning(state.item)}</p>
        </Confirm>
      );
  }
}
