import { useEffect, useRef, useState } from "preact/hooks";
import { listModels } from "../../api/models.ts";
import { listProviders } from "../../api/providers.ts";
import { editPresentSettings, omitEntry, type Price, readSettings } from "../../api/settings.ts";
import { Button } from "../../ui/button.tsx";
import { formatCount } from "../../ui/count.ts";
import { Empty } from "../../ui/empty.tsx";
import { LoadState } from "../../ui/loading/load-state.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Panel } from "../../ui/page.tsx";
import { actionColumn, type Column } from "../../ui/tables/data-table.tsx";
import { PagedTable } from "../../ui/tables/paged-table.tsx";
import { showToast } from "../../ui/toasts.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { words } from "../../ui/words.ts";
import { PriceForm } from "./price-form.tsx";
import { texts } from "./texts.ts";
import { listUnpricedNames } from "./unpriced-names.ts";

type Prices = Readonly<Record<string, Price>>;

/** Most models without a price that are shown. */
const MAX_UNPRICED = 8;

/** Reads the models that callers can use, and the prices that their providers have. */
async function readListed(signal: AbortSignal) {
  const [models, providers] = await Promise.all([listModels(signal), listProviders(signal)]);
  return { models, providers };
}

/** The prices of cached tokens, as they count if they are not set. */
function completePrice(price: Price | undefined) {
  const { input, cached_input, cache_read = cached_input ?? input } = price ?? {};
  const { cache_write_5m = input, cache_write_1h = cache_write_5m } = price ?? {};
  return { cache_read, cache_write_5m, cache_write_1h };
}

interface PriceEditorProps {
  /** The address leads to the prices: they are open, and in view. */
  readonly isTarget: boolean;
}

/** Editor for token prices by model. Past usage keeps the price of its time. */
export function PriceEditor({ isTarget }: PriceEditorProps) {
  const foot = useRef<HTMLDivElement>(null);
  const { data, error, reload, replace } = useLoaded(readSettings);
  const [editing, setEditing] = useState<string | null>(null);
  const [proposal, setProposal] = useState("");
  const listed = useLoaded(readListed).data;
  const removal = useAsyncAction();
  useEffect(() => {
    if (isTarget && data !== null) foot.current?.scrollIntoView();
  }, [isTarget, data === null]);
  const prices: Prices = data?.prices ?? {};
  const models = Object.keys(prices).sort();
  /** Replaces the price of one model. Edits of other prices stay. */
  const replacePrice = async (model: string, next: Prices, message: string) => {
    replace(
      await editPresentSettings((present) => ({ prices: { ...omitEntry(present.prices, model), ...next } })),
    );
    showToast(message);
  };
  const unpriced =
    data === null || listed === null
      ? []
      : listUnpricedNames(listed.models, models, Object.keys(data.model_routes), listed.providers);
  const addFor = (name: string) => {
    setProposal(name);
    setEditing("");
  };
  const add = (
    <Button needs="operator" onClick={() => addFor("")}>
      {texts.addPrice}
    </Button>
  );
  const columns: Column<string>[] = [
    { title: words.model, class: "mono", cell: (model) => <TruncatedText text={model} /> },
    { title: texts.in, end: true, class: "tabular", cell: (model) => prices[model]?.input },
    {
      title: texts.cacheRead,
      end: true,
      class: "tabular muted",
      cell: (model) => completePrice(prices[model]).cache_read,
    },
    {
      title: texts.cacheWrite5MinShort,
      end: true,
      class: "tabular muted",
      cell: (model) => completePrice(prices[model]).cache_write_5m,
    },
    {
      title: texts.cacheWrite1HShort,
      end: true,
      class: "tabular muted",
      cell: (model) => completePrice(prices[model]).cache_write_1h,
    },
    { title: texts.out, end: true, class: "tabular", cell: (model) => prices[model]?.output },
    actionColumn((model) => (
      <>
        <Button
          kind="quiet"
          needs="operator"
          label={texts.editPrice(model)}
          onClick={() => setEditing(model)}
        >
          {words.edit}
        </Button>
        <Button
          kind="quiet"
          needs="operator"
          label={texts.removePrice(model)}
          onClick={() => removal.run(() => replacePrice(model, {}, texts.priceRemoved))}
        >
          {words.remove}
        </Button>
      </>
    )),
  ];
  return (
    <div ref={foot}>
      <Panel
        folds={!isTarget}
        title={texts.pricesPerMillionTokens}
        {...(models.length > 0 && { actions: add })}
      >
        <LoadState {...{ data, error, reload }} />
        <Problem error={removal.error} />
        {data !== null && (
          <PagedTable
            rows={8}
            items={models}
            keyOf={(model) => model}
            columns={columns}
            empty={
              <Empty icon="usage" title={texts.noPrices} action={add}>
                {texts.noPricesHint}
              </Empty>
            }
          />
        )}
        {unpriced.length > 0 && (
          <div class="row unpriced">
            <span class="muted">{texts.withoutPrice}</span>
            {unpriced.slice(0, MAX_UNPRICED).map((name) => (
              <Button key={name} needs="operator" label={texts.addPriceOf(name)} onClick={() => addFor(name)}>
                {name}
              </Button>
            ))}
            {unpriced.length > MAX_UNPRICED && (
              <span class="muted">{words.andMore(formatCount(unpriced.length - MAX_UNPRICED))}</span>
            )}
          </div>
        )}
        {editing !== null && (
          <PriceForm
            model={editing}
            proposal={editing || proposal}
            price={prices[editing]}
            onClose={() => setEditing(null)}
            onSave={(model, price) => replacePrice(editing, { [model]: price }, texts.priceSaved)}
          />
        )}
      </Panel>
    </div>
  );
}
