import type { Technologies } from "../../api/page-service.ts";
import { formatPercent } from "../../ui/count.ts";
import { type Column, DataTable } from "../../ui/tables/data-table.tsx";
import { texts } from "./texts.ts";

type Application = Technologies["applications"][number];

const COLUMNS: readonly Column<Application>[] = [
  {
    title: texts.technology,
    cell: ({ name, website }) =>
      /^https?:/.test(website) ? (
        <a href={website} rel="noreferrer" target="_blank">
          {name}
        </a>
      ) : (
        name
      ),
  },
  { title: texts.version, class: "tabular", cell: ({ version }) => version || "–" },
  { title: texts.categories, class: "muted", cell: ({ categories }) => categories.join(", ") },
  {
    title: texts.confidence,
    end: true,
    class: "tabular",
    cell: ({ confidence }) => formatPercent(Number(confidence)),
  },
];

/** Table of a page's technologies. */
export function TechnologyTable({ applications }: { readonly applications: readonly Application[] }) {
  return <DataTable items={applications} keyOf={({ name }) => name} columns={COLUMNS} />;
}
