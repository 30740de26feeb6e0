import type { ComponentChildren } from "preact";
import { ConnectionSnippets } from "../shared/connection-snippets.tsx";
import { LIMIT_FIELDS } from "../shared/limit-draft.ts";
import { formatCount } from "../ui/count.ts";
import { formatCompact, formatFullTime } from "../ui/format.ts";
import { Page, Panel } from "../ui/page.tsx";
import { Scroller } from "../ui/scroller.tsx";
import { type Column, DataTable } from "../ui/tables/data-table.tsx";
import { Tile } from "../ui/tile.tsx";
import { words } from "../ui/words.ts";
import type { OwnKey } from "./own-key.ts";
import { texts } from "./texts.ts";

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
  { title: texts.limit, cell: ({ label }) => label },
  { title: texts.allowed, end: true, class: "tabular", cell: ({ limit }) => AMOUNT.format(limit) },
  { title: texts.used, end: true, class: "tabular", cell: ({ used }) => AMOUNT.format(used) },
  { title: texts.left, end: true, class: "tabular", cell: ({ remaining }) => AMOUNT.format(remaining) },
  {
    title: texts.resets,
    class: "muted",
    cell: ({ resets_at }) =>
      resets_at === null ? texts.whenRequestsEnd : formatFullTime(Date.parse(resets_at)),
  },
];

function Scope({ name, values }: { readonly name: string; readonly values: readonly string[] }) {
  return (
    <div>
      <dt class="muted">{name}</dt>
      <dd>{values.length === 0 ? words.all : values.join(", ")}</dd>
    </div>
  );
}

interface KeyDetailsProps {
  /** The key itself. */
  readonly secret: string;
  readonly view: OwnKey;
  readonly actions: ComponentChildren;
  readonly problem: ComponentChildren;
}

/** Limits, use and scope of a key, and how to connect with it. */
export function KeyDetails({ secret, view, actions, problem }: KeyDetailsProps) {
  const { today, this_month: month } = view.usage;
  const rows = LIMIT_FIELDS.flatMap(({ name, label }) => {
    const state = view.limits[name];
    return state == null ? [] : [{ label, ...state }];
  });
  const expiry =
    view.expires_at === null
      ? texts.neverExpires
      : texts.expiresAt(formatFullTime(Date.parse(view.expires_at)));
  return (
    <div class="own-key">
      <Page
        title={view.name === "" ? texts.yourApiKey : view.name}
        lead={`${view.id}. ${expiry}`}
        actions={actions}
      >
        {problem}
        <dl class="tiles">
          <Tile
            name={texts.requestsToday}
            value={formatCount(today.requests)}
            below={texts.sinceMidnightUtc}
          />
          <Tile
            name={texts.tokensToday}
            value={formatCompact(today.total_tokens)}
            below={texts.cost(AMOUNT.format(today.cost))}
          />
          <Tile name={texts.requestsMonth} value={formatCount(month.requests)} below={texts.utc} />
          <Tile
            name={texts.tokensMonth}
            value={formatCompact(month.total_tokens)}
            below={texts.cost(AMOUNT.format(month.cost))}
          />
        </dl>
        <Panel title={texts.limits}>
          <DataTable
            items={rows}
            keyOf={({ label }) => label}
            columns={COLUMNS}
            empty={<p class="muted">{texts.noLimits}</p>}
          />
        </Panel>
        <Panel title={texts.allowed}>
          <dl class="stack">
            <Scope name={words.models} values={view.models} />
            <Scope name={texts.styles} values={view.styles} />
            <Scope name={texts.networks} values={view.networks} />
          </dl>
        </Panel>
        <Panel title={texts.availableModels}>
          <Scroller label={words.models} class="available-models">
            <p>{view.available_models.join(", ") || words.none}</p>
          </Scroller>
        </Panel>
        <Panel title={texts.connect}>
          <ConnectionSnippets
            connection={{ origin: location.origin, key: secret, model: view.available_models[0] ?? "" }}
          />
        </Panel>
      </Page>
    </div>
  );
}
