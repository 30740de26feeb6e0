import type { ComponentChildren } from "preact";
import { LIMIT_FIELDS } from "../pages/keys/limit-draft.ts";
import { type Column, DataTable } from "../ui/data-table.tsx";
import { formatCompact, formatCount, formatFullTime } from "../ui/format.ts";
import { Page, Panel } from "../ui/page.tsx";
import { Tile } from "../ui/tile.tsx";
import type { OwnKey } from "./own-key.ts";

/** Costs may be far below one. */
const AMOUNT = new Intl.NumberFormat("en", { maximumFractionDigits: 6 });

/** A limit with its label. */
interface LimitRow {
  readonly label: string;
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  readonly resets_at: string | null;
}

const COLUMNS: readonly Column<LimitRow>[] = [
  { title: "Limit", cell: ({ label }) => label },
  { title: "Allowed", end: true, class: "tabular", cell: ({ limit }) => AMOUNT.format(limit) },
  { title: "Used", end: true, class: "tabular", cell: ({ used }) => AMOUNT.format(used) },
  { title: "Left", end: true, class: "tabular", cell: ({ remaining }) => AMOUNT.format(remaining) },
  {
    title: "Starts anew",
    class: "muted",
    cell: ({ resets_at }) => (resets_at === null ? "as requests end" : formatFullTime(Date.parse(resets_at))),
  },
];

function Scope({ name, values }: { readonly name: string; readonly values: readonly string[] }) {
  return (
    <div>
      <dt class="muted">{name}</dt>
      <dd>{values.length === 0 ? "all" : values.join(", ")}</dd>
    </div>
  );
}

interface KeyDetailsProps {
  readonly view: OwnKey;
  readonly actions: ComponentChildren;
  readonly problem: ComponentChildren;
}

/** Limits, use and scope of a key. */
export function KeyDetails({ view, actions, problem }: KeyDetailsProps) {
  const { today, this_month: month } = view.usage;
  const rows = LIMIT_FIELDS.flatMap(({ name, label }) => {
    const state = view.limits[name];
    return state == null ? [] : [{ label, ...state }];
  });
  const expiry =
    view.expires_at === null
      ? "It does not expire."
      : `It expires at ${formatFullTime(Date.parse(view.expires_at))}.`;
  return (
    <div class="own-key">
      <Page
        title={view.name === "" ? "Your API key" : view.name}
        lead={`${view.id}. ${expiry}`}
        actions={actions}
      >
        {problem}
        <dl class="tiles">
          <Tile name="Requests today" value={formatCount(today.requests)} below="since midnight, UTC" />
          <Tile
            name="Tokens today"
            value={formatCompact(today.total_tokens)}
            below={`cost ${AMOUNT.format(today.cost)}`}
          />
          <Tile name="Requests this month" value={formatCount(month.requests)} below="UTC" />
          <Tile
            name="Tokens this month"
            value={formatCompact(month.total_tokens)}
            below={`cost ${AMOUNT.format(month.cost)}`}
          />
        </dl>
        <Panel title="Limits">
          <DataTable
            items={rows}
            keyOf={({ label }) => label}
            columns={COLUMNS}
            empty={<p class="muted">This key has no limits.</p>}
          />
        </Panel>
        <Panel title="Allowed">
          <dl class="stack">
            <Scope name="Models" values={view.models} />
            <Scope name="Styles" values={view.styles} />
            <Scope name="Networks" values={view.networks} />
          </dl>
        </Panel>
        <Panel title="Models that it can use now">
          <p>{view.available_models.join(", ") || "none"}</p>
        </Panel>
      </Page>
    </div>
  );
}
