import { useState } from "preact/hooks";
import type { UsageItem } from "../../api/usage.ts";
import { formatHref } from "../../routing.ts";
import { Button } from "../../ui/button.tsx";
import { formatCount } from "../../ui/count.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Panel } from "../../ui/page.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { words } from "../../ui/words.ts";
import { displayName, formatCost, formatShare, type UsageNames } from "../usage/usage-view.ts";
import { texts } from "./texts.ts";
import { selectTop, TOP_ORDERS, type TopOrder } from "./top-groups.ts";

/** The dimensions of the lists, with their headings. */
const LISTS = [
  ["model", words.models],
  ["key", words.keys],
  ["provider", words.providers],
] as const;
type TopDimension = (typeof LISTS)[number][0];

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
        {LISTS.map(([by, heading]) => (
          <DataTable
            key={by}
            items={selectTop(usage[by], order)}
            keyOf={(item) => item[by] ?? ""}
            class="numbers"
            columns={listColumns(by, heading, names, days)}
            empty={<p class="muted">{texts.noRequestsYet}</p>}
          />
        ))}
      </div>
    </Panel>
  );
}

function listColumns(
  by: TopDimension,
  heading: string,
  names: UsageNames,
  days: number,
): Column<UsageItem>[] {
  return [
    {
      title: heading,
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
    { title: texts.costTitle, end: true, class: "tabular", cell: ({ cost }) => formatCost(cost) },
    {
      title: texts.errorsTitle,
      end: true,
      class: "tabular",
      cell: ({ failed, refused, requests }) => (
        <>
          {formatCount(failed + refused)} <span class="muted">{formatShare(failed + refused, requests)}</span>
        </>
      ),
    },
  ];
}
