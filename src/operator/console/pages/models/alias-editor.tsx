import { useState } from "preact/hooks";
import { changeSettings, type Settings } from "../../api/settings.ts";
import { Button } from "../../ui/button.tsx";
import { actionColumn, type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Panel } from "../../ui/page.tsx";
import { showToast, showUndoToast } from "../../ui/toasts.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { AliasForm } from "./alias-form.tsx";

interface AliasEditorProps {
  readonly aliases: Readonly<Record<string, string>>;
  readonly models: readonly string[];
  readonly onSaved: (settings: Settings) => void;
}

/** Editor for aliases of models. Aliases override the built-in ones. */
export function AliasEditor({ aliases, models, onSaved }: AliasEditorProps) {
  const [editing, setEditing] = useState<string | null>(null);
  const save = async (next: Readonly<Record<string, string>>, message: string) => {
    onSaved(await changeSettings({ model_aliases: next }));
    showToast(message);
  };
  const remove = async (name: string) => {
    onSaved(await changeSettings({ model_aliases: without(name) }));
    const undo = async () => onSaved(await changeSettings({ model_aliases: aliases }));
    showUndoToast("Alias removed", undo, async () => {});
  };
  const without = (name: string) =>
    Object.fromEntries(Object.entries(aliases).filter(([alias]) => alias !== name));
  const names = Object.keys(aliases).sort();
  const add = <Button onClick={() => setEditing("")}>Add alias</Button>;
  const columns: Column<string>[] = [
    { title: "Requested name", class: "mono", cell: (name) => <TruncatedText text={name} /> },
    { title: "Model", class: "mono", cell: (name) => aliases[name] },
    actionColumn((name) => (
      <>
        <Button kind="quiet" label={`Edit ${name}`} onClick={() => setEditing(name)}>
          Edit
        </Button>
        <RemoveAlias name={name} remove={() => remove(name)} />
      </>
    )),
  ];
  return (
    <Panel title="Aliases" {...(names.length > 0 && { actions: add })}>
      <DataTable
        items={names}
        keyOf={(name) => name}
        columns={columns}
        empty={
          <Empty icon="models" title="No aliases of your own" action={add}>
            The common names of other vendors' models work without any.
          </Empty>
        }
      />
      {editing !== null && (
        <AliasForm
          name={editing}
          target={aliases[editing] ?? models[0] ?? ""}
          models={models}
          onClose={() => setEditing(null)}
          onSave={(name, target) => save({ ...without(editing), [name]: target }, "Alias saved")}
        />
      )}
    </Panel>
  );
}

interface RemoveAliasProps {
  readonly name: string;
  readonly remove: () => Promise<void>;
}

function RemoveAlias({ name, remove }: RemoveAliasProps) {
  const [error, setError] = useState("");
  const run = () => remove().catch((thrown) => setError(String(thrown)));
  return (
    <Button kind="quiet" label={`Remove ${name}`} title={error} onClick={run}>
      {error === "" ? "Remove" : "Remove again"}
    </Button>
  );
}
