import { useState } from "preact/hooks";
import type { UsageItem } from "../../api/usage.ts";
import { formatHref } from "../../routing.ts";
import { formatProviderErrors } from "../../shared/provider-usage.ts";
import { displayName, type UsageNames } from "../../shared/usage-names.ts";
import { Button } from "../../ui/button.tsx";
import { formatCount } from "../../ui/count.ts";
import { formatCostOf, formatShare } from "../../ui/format.ts";
import { Panel } from "../../ui/page.tsx";
import { type Column, DataTable } from "../../ui/tables/data-table.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";
import {
  countErrors,
  selectTop,
  TOP_DIMENSIONS,
  TOP_ORDERS,
  type TopDimension,
  type TopOrder,
} from "./top-groups.ts";

const HEADINGS: Readonly<Record<TopDimension, string>> = {
  model: words.models,
  key: words.keys,
  provider: words.providers,
};

const ORDER_NAMES: Readonly<Record<TopOrder, string>> = {
  requests: texts.byRequests,
  cost: texts.byCost,
  errors: texts.byErrors,
};

/** Usage of the selected time range, by dimension. */
export type TopUsage = Readonly<Record<TopDimension, readonly UsageItem[]>>;

interface TopListsProps {
  readonly usage: TopUsage;
  readonly names: UsageNames;
  /** The range that the usage page shows for an entry, in days. */
  readonly days: number;
}

/** Lists the models, keys and providers with the most requests, cost or errors. */
export function TopLists({ usage, names, days }: TopListsProps) {
  const [order, setOrder] = useState<TopOrder>("requests");
  const actions = (
    <fieldset class="row" aria-label={texts.sortedBy}>
      {TOP_ORDERS.map((name) => (
        <Button key={name} pressed={name === order} onClick={() => setOrder(name)}>
          {ORDER_NAMES[name]}
        </Button>
      ))}
    </fieldset>
  );
  return (
    <Panel folds title={texts.top} actions={actions}>
      <div class="top-lists">
        {TOP_DIMENSIONS.map((by) => (
          <DataTable
            key={by}
            items={selectTop(usage[by], by, order)}
            keyOf={(item) => item[by] ?? ""}
            class="numbers"
            columns={listColumns(by, names, days)}
            empty={<p class="muted">{texts.noRequestsYet}</p>}
          />
        ))}
      </div>
    </Panel>
  );
}

function listColumns(by: TopDimension, names: UsageNames, days: number): Column<UsageItem>[] {
  return [
    {
      title: HEADINGS[by],
      cell: (item) => {
        const value = item[by] ?? "";
        const query = new URLSearchParams({ days: String(days), by, [by]: value });
        return (
          <a href={formatHref("usage", "", query.toString())}>
            <TruncatedText text={displayName(by, value, names)} />
          </a>
        );
      },
    },
    { title: words.requests, end: true, class: "tabular", cell: ({ requests }) => formatCount(requests) },
    {
      title: texts.costTitle,
      end: true,
      class: "tabular",
      cell: ({ cost, prompt_tokens, completion_tokens }) =>
        formatCostOf(cost, prompt_tokens + completion_tokens),
    },
    {
      title: by === "provider" ? texts.failedAttempts : texts.errorsTitle,
      end: true,
      class: "tabular",
      cell: (item) => {
        const errors = countErrors(item, by);
        const share = by === "provider" ? formatProviderErrors(item) : formatShare(errors, item.requests);
        return (
          <>
            {formatCount(errors)} <span class="muted">{share}</span>
          </>
        );
      },
    },
  ];
}
