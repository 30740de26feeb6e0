import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type ProviderEntryView, type ProviderView, removeModel, switchModels } from "../../api/providers.ts";
import { readSettings } from "../../api/settings.ts";
import { useHasRole } from "../../own-user.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Panel } from "../../ui/page.tsx";
import { actionColumn, type Column } from "../../ui/tables/data-table.tsx";
import { PagedTable } from "../../ui/tables/paged-table.tsx";
import { SearchBox } from "../../ui/tables/search-box.tsx";
import { showToast, showUndoToast } from "../../ui/toasts.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { words } from "../../ui/words.ts";
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
import { texts } from "./texts.ts";

interface ModelTableProps {
  readonly provider: ProviderView;
  readonly onChanged: (provider: ProviderEntryView) => void;
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
  const canEdit = useHasRole("operator");
  // Switches show the chosen value while the request runs.
  const [pending, setPending] = useState<{ readonly names: readonly string[]; readonly enabled: boolean }>();
  // Prices of the page Usage come before those of the provider.
  const ownPrices = useLoaded(readSettings).data?.prices ?? {};
  const priceOf = ({ name, price }: ListedModel) =>
    formatPrice({ price: ownPrices[`${id}/${name}`] ?? price });
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
      const subject = names.length === 1 ? first : words.modelCount(names.length);
      showToast(texts.switched(subject, enabled));
    });
    setPending(undefined);
  };
  const remove = ({ name }: ListedModel) =>
    action.run(async () => {
      const undo = await removeModel(id, name);
      if (undo === null) showToast(texts.modelRemoved);
      else showUndoToast(texts.modelRemoved, undo, reload);
      await reload();
    });
  const describeSwitch = (enabled: boolean) => {
    if (shown.length === models.length) return enabled ? texts.enableAll : texts.disableAll;
    return enabled ? texts.enableShown(shown.length) : texts.disableShown(shown.length);
  };
  const renderSwitchAll = (enabled: boolean) => {
    const selected = shown.filter((model) => model.enabled !== enabled);
    return (
      <Button
        needs="operator"
        busy={action.busy}
        disabled={selected.length === 0}
        onClick={() => void switchAll(selected, enabled)}
      >
        {describeSwitch(enabled)}
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
      {read_only && models.length > 0 && <p class="hint">{texts.variablesProviderLead}</p>}
      {schedule !== "" && <p class={provider.models_asked?.error ? "field-error" : "hint"}>{schedule}</p>}
      {models.length > 8 && <SearchBox label={texts.filter} value={needle} onSearch={setNeedle} />}
      <PagedTable
        items={shown}
        keyOf={({ name }) => name}
        columns={createColumns({
          read_only,
          busy: action.busy,
          canEdit,
          turn: switchAll,
          remove,
          onEdit,
          priceOf,
        })}
        class="models"
        empty={
          models.length > 0 ? (
            <p class="muted">{texts.noModelMatches}</p>
          ) : (
            <Empty icon="models" title={texts.noModels} action={ask}>
              {read_only ? texts.noModelsOfVariables : texts.noModelsHint(id)}
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
  readonly canEdit: boolean;
  readonly turn: (models: readonly ListedModel[], enabled: boolean) => unknown;
  readonly remove: (model: ListedModel) => unknown;
  /** Describes the price that applies; empty: none. */
  readonly priceOf: (model: ListedModel) => string;
  readonly onEdit: (model: ListedModel) => void;
}

/** Placeholder for an unknown value. Hidden where a row has no headings. */
const orUnknown = (text: string) =>
  text === "" ? (
    <span class="muted unknown">
      <span aria-hidden="true">–</span>
      <span class="hidden-text">{texts.notKnownWord}</span>
    </span>
  ) : (
    text
  );

function createColumns({
  read_only,
  busy,
  canEdit,
  turn,
  remove,
  onEdit,
  priceOf,
}: ColumnsOptions): Column<ListedModel>[] {
  const name: Column<ListedModel> = {
    title: words.name,
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
      title: texts.onTitle,
      cell: (model) => (
        <input
          type="checkbox"
          class="switch"
          aria-label={texts.onName(model.name)}
          checked={model.enabled}
          disabled={busy || !canEdit}
          onChange={(event) => turn([model], event.currentTarget.checked)}
        />
      ),
    },
    name,
    { title: texts.abilities, cell: (model) => orUnknown(formatAbilities(model)) },
    { title: texts.context, class: "tabular", cell: (model) => orUnknown(formatSizes(model)) },
    { title: texts.price, class: "tabular", cell: (model) => orUnknown(priceOf(model)) },
    actionColumn((model) => (
      <>
        <Button kind="quiet" needs="operator" label={texts.edit(model.name)} onClick={() => onEdit(model)}>
          {words.edit}
        </Button>
        <Button
          kind="quiet"
          needs="operator"
          label={texts.remove(model.name)}
          disabled={busy}
          onClick={() => remove(model)}
        >
          {words.remove}
        </Button>
      </>
    )),
  ];
}
