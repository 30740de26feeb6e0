import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Undo } from "../api/undo.ts";
import { Button } from "./button.tsx";
import { Confirm } from "./confirm.tsx";
import { Icon } from "./icon.tsx";
import { toast, toastUndo } from "./toasts.tsx";

/** A list whose items can be added, changed and deleted, and which of that the person is doing. */
export interface Editing<T> {
  readonly doing:
    | { readonly what: "nothing" | "add" }
    | { readonly what: "edit" | "delete"; readonly item: T };
  add(): void;
  edit(item: T): void;
  /** Asks whether the item is to be deleted. */
  remove(item: T): void;
  close(): void;
  /** Says what has changed, and loads the list again. */
  changed(said: string, undo?: Undo | null): Promise<void>;
}

/** `reload` loads the list. */
export function useEditing<T>(reload: () => Promise<void>): Editing<T> {
  const [doing, setDoing] = useState<Editing<T>["doing"]>({ what: "nothing" });
  return {
    doing,
    add: () => setDoing({ what: "add" }),
    edit: (item) => setDoing({ what: "edit", item }),
    remove: (item) => setDoing({ what: "delete", item }),
    close: () => setDoing({ what: "nothing" }),
    changed: async (said, undo = null) => {
      if (undo === null) toast(said);
      else toastUndo(said, undo, reload);
      await reload();
    },
  };
}

interface AddButtonProps {
  /** What an item is called within a sentence. */
  readonly noun: string;
  readonly onClick: () => void;
}

/** The obvious action of a list. */
export function AddButton({ noun, onClick }: AddButtonProps) {
  return (
    <Button kind="primary" onClick={onClick}>
      <Icon name="plus" />
      Add {noun}
    </Button>
  );
}

interface EditButtonsProps<T> {
  readonly editing: Editing<T>;
  readonly item: T;
}

/** The buttons that each item of a list has. */
export function EditButtons<T>({ editing, item }: EditButtonsProps<T>) {
  return (
    <>
      <Button kind="quiet" onClick={() => editing.edit(item)}>
        Edit
      </Button>
      <Button kind="quiet" onClick={() => editing.remove(item)}>
        Delete
      </Button>
    </>
  );
}

/** What every form that adds or changes an item is given. */
export interface EditFormProps {
  readonly onClose: () => void;
  readonly onSaved: (said: string) => Promise<void>;
}

interface EditDialogsProps<T> {
  readonly editing: Editing<T>;
  /** What an item is called within a sentence. */
  readonly noun: string;
  /** The form for an item, or for a new one (null). */
  readonly form: (item: T | null, props: EditFormProps) => ComponentChildren;
  /** Deletes it; what it resolves to brings it back. */
  readonly remove: (item: T) => Promise<Undo | null>;
  /** What it means to delete the item. */
  readonly warning: (item: T) => ComponentChildren;
}

/** The dialog of what the person is doing with a list. */
export function EditDialogs<T>({ editing, noun, form, remove, warning }: EditDialogsProps<T>) {
  const { doing, close, changed } = editing;
  switch (doing.what) {
    case "nothing":
      return null;
    case "add":
      return <>{form(null, { onClose: close, onSaved: changed })}</>;
    case "edit":
      return <>{form(doing.item, { onClose: close, onSaved: changed })}</>;
    case "delete":
      return (
        <Confirm
          title={`Delete this ${noun}?`}
          action={`Delete ${noun}`}
          onClose={close}
          run={async () => {
            const undo = await remove(doing.item);
            await changed(`${noun.charAt(0).toUpperCase()}${noun.slice(1)} deleted`, undo);
          }}
        >
          <p>{warning(doing.item)}</p>
        </Confirm>
      );
  }
}
