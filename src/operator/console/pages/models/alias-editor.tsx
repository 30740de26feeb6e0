import { useState } from "preact/hooks";
import { editPresentSettings, omitEntry, type Settings } from "../../api/settings.ts";
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
  /** Replaces one alias. Edits of other aliases stay. */
  const replaceAlias = async (name: string, next: Readonly<Record<string, string>>) =>
    onSaved(
      await editPresentSettings(({ model_aliases }) => ({
        model_aliases: { ...omitEntry(model_aliases, name), ...next },
      })),
    );
  const remove = async (name: string) => {
    const target = aliases[name];
    await replaceAlias(name, {});
    const undo = () => replaceAlias(name, target === undefined ? {} : { [name]: target });
    showUndoToast("Alias removed", undo, async () => {});
  };
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
          <Empty icon="models" title="No aliases yet" action={add}>
            Common model names of other vendors work without an alias.
          </Empty>
        }
      />
      {editing !== null && (
        <AliasForm
          name={editing}
          target={aliases[editing] ?? models[0] ?? ""}
          models={models}
          onClose={() => setEditing(null)}
          onSave={async (name, target) => {
            await replaceAlias(editing, { [name]: target });
            showToast("Alias saved");
          }}
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
