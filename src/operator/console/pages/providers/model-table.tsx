import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type ProviderView, removeModel, switchModels } from "../../api/providers.ts";
import { Button } from "../../ui/button.tsx";
import { actionColumn, type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { formatPlural } from "../../ui/format.ts";
import { Panel } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { showToast, showUndoToast } from "../../ui/toasts.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { useAsyncAction } from "../../ui/use-async-action.ts";
import {
  formatAbilities,
  formatModelCount,
  formatPrice,
  formatSchedule,
  formatSizes,
  type ListedModel,
  listModels,
  searchModels,
} from "./model-list.ts";

interface ModelTableProps {
  readonly provider: ProviderView;
  readonly onChanged: (provider: ProviderView) => void;
  readonly reload: () => Promise<void>;
  readonly onEdit: (model: ListedModel) => void;
  /** Button that loads the provider's model list. */
  readonly ask: ComponentChildren;
}

/** Table of a provider's models, each with a switch. */
export function ModelTable({ provider, onChanged, reload, onEdit, ask }: ModelTableProps) {
  const { id, read_only } = provider;
  const [needle, setNeedle] = useState("");
  const action = useAsyncAction();
  // Switches show the chosen value while the request runs.
  const [pending, setPending] = useState<{ readonly names: readonly string[]; readonly enabled: boolean }>();
  const models = listModels(provider).map((model) =>
    pending?.names.includes(model.name) === true ? { ...model, enabled: pending.enabled } : model,
  );
  const schedule = formatSchedule(provider);
  const shown = searchModels(models, needle);
  const switchAll = async (selected: readonly ListedModel[], enabled: boolean) => {
    const names = selected.map(({ name }) => name);
    setPending({ names, enabled });
    await action.run(async () => {
      onChanged(await switchModels(id, names, enabled));
      const [first = ""] = names;
      const subject = names.length === 1 ? first : formatPlural(names.length, "model");
      showToast(`${subject} switched ${enabled ? "on" : "off"}`);
    });
    setPending(undefined);
  };
  const remove = ({ name }: ListedModel) =>
    action.run(async () => {
      const undo = await removeModel(id, name);
      if (undo === null) showToast("Model removed");
      else showUndoToast("Model removed", undo, reload);
      await reload();
    });
  const renderSwitchAll = (enabled: boolean) => {
    const selected = shown.filter((model) => model.enabled !== enabled);
    const scope = shown.length === models.length ? "all" : `these ${shown.length}`;
    return (
      <Button
        busy={action.busy}
        disabled={selected.length === 0}
        onClick={() => void switchAll(selected, enabled)}
      >
        Switch {scope} {enabled ? "on" : "off"}
      </Button>
    );
  };
  return (
    <Panel
      title={formatModelCount(models)}
      {...(!read_only &&
        models.length > 1 && {
          actions: (
            <>
              {renderSwitchAll(true)}
              {renderSwitchAll(false)}
            </>
          ),
        })}
    >
      <Problem error={action.error} />
      {read_only && models.length > 0 && (
        <p class="hint">
          This is the provider that the deployment's variables name: PROVIDER_MODELS says which of its models
          the gateway's own names lead to. What is not mapped is asked for by its own name.
        </p>
      )}
      {schedule !== "" && <p class={provider.models_asked?.error ? "field-error" : "hint"}>{schedule}</p>}
      {models.length > 8 && <SearchBox label="Filter" value={needle} onSearch={setNeedle} />}
      <DataTable
        items={shown}
        keyOf={({ name }) => name}
        columns={createColumns({ read_only, busy: action.busy, turn: switchAll, remove, onEdit })}
        class="models"
        empty={
          models.length > 0 ? (
            <p class="muted">None has that in its name.</p>
          ) : (
            <Empty icon="models" title="No models are listed" action={ask}>
              {read_only
                ? "The gateway's own names go to the backend as they are, or to its only model."
                : `What is listed here stands in all lists of models, as ${id}/name. Others of its models can be asked for all the same.`}
            </Empty>
          )
        }
      />
    </Panel>
  );
}

interface ColumnsOptions {
  readonly read_only: boolean;
  readonly busy: boolean;
  readonly turn: (models: readonly ListedModel[], enabled: boolean) => unknown;
  readonly remove: (model: ListedModel) => unknown;
  readonly onEdit: (model: ListedModel) => void;
}

/** Placeholder for an unknown value. Hidden where a row has no headings. */
const orUnknown = (text: string) =>
  text === "" ? (
    <span class="muted unsaid">
      <span aria-hidden="true">–</span>
      <span class="hidden-text">not known</span>
    </span>
  ) : (
    text
  );

function createColumns({ read_only, busy, turn, remove, onEdit }: ColumnsOptions): Column<ListedModel>[] {
  const name: Column<ListedModel> = {
    title: "Name",
    cell: ({ name, upstream }) => (
      <span class="mono">
        <TruncatedText text={name} />
        {upstream !== name && (
          <span class="muted block">
            <TruncatedText text={`→ ${upstream}`} />
          </span>
        )}
      </span>
    ),
  };
  if (read_only) return [name];
  return [
    {
      title: "On",
      cell: (model) => (
        <input
          type="checkbox"
          class="switch"
          aria-label={`${model.name} is on`}
          checked={model.enabled}
          disabled={busy}
          onChange={(event) => turn([model], event.currentTarget.checked)}
        />
      ),
    },
    name,
    { title: "Abilities", cell: (model) => orUnknown(formatAbilities(model)) },
    { title: "Context", class: "tabular", cell: (model) => orUnknown(formatSizes(model)) },
    { title: "Price", class: "tabular", cell: (model) => orUnknown(formatPrice(model)) },
    actionColumn((model) => (
      <>
        <Button kind="quiet" label={`Edit ${model.name}`} onClick={() => onEdit(model)}>
          Edit
        </Button>
        <Button kind="quiet" label={`Remove ${model.name}`} disabled={busy} onClick={() => remove(model)}>
          Remove
        </Button>
      </>
    )),
  ];
}
