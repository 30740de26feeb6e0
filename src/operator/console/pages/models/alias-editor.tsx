import { useState } from "preact/hooks";
import { editPresentSettings, omitEntry, type Settings } from "../../api/settings.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Panel } from "../../ui/page.tsx";
import { actionColumn, type Column } from "../../ui/tables/data-table.tsx";
import { PagedTable } from "../../ui/tables/paged-table.tsx";
import { showToast, showUndoToast } from "../../ui/toasts.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { words } from "../../ui/words.ts";
import { AliasForm } from "./alias-form.tsx";
import { texts } from "./texts.ts";

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
    showUndoToast(texts.aliasRemoved, undo, async () => {});
  };
  const names = Object.keys(aliases).sort();
  const add = (
    <Button needs="operator" onClick={() => setEditing("")}>
      {texts.addAlias}
    </Button>
  );
  const columns: Column<string>[] = [
    { title: texts.requestedName, class: "mono", cell: (name) => <TruncatedText text={name} /> },
    { title: words.model, class: "mono", cell: (name) => aliases[name] },
    actionColumn((name) => (
      <>
        <Button kind="quiet" needs="operator" label={texts.edit(name)} onClick={() => setEditing(name)}>
          {words.edit}
        </Button>
        <RemoveAlias name={name} remove={() => remove(name)} />
      </>
    )),
  ];
  return (
    <Panel title={texts.aliases} {...(names.length > 0 && { actions: add })}>
      <PagedTable
        rows="few"
        items={names}
        keyOf={(name) => name}
        columns={columns}
        empty={
          <Empty icon="models" title={texts.noAliasesYet} action={add}>
            {texts.noAliasesHint}
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
            showToast(texts.aliasSaved);
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
    <Button kind="quiet" needs="operator" label={texts.remove(name)} title={error} onClick={run}>
      {error === "" ? words.remove : texts.removeShort}
    </Button>
  );
}
