import type { Technologies } from "../../api/page-service.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";

type Application = Technologies["applications"][number];

const COLUMNS: readonly Column<Application>[] = [
  {
    title: "Technology",
    cell: ({ name, website }) =>
      /^https?:/.test(website) ? (
        <a href={website} rel="noreferrer" target="_blank">
          {name}
        </a>
      ) : (
        name
      ),
  },
  { title: "Version", class: "tabular", cell: ({ version }) => version || "–" },
  { title: "Categories", class: "muted", cell: ({ categories }) => categories.join(", ") },
  { title: "Confidence", end: true, class: "tabular", cell: ({ confidence }) => `${confidence}%` },
];

/** Table of a page's technologies. */
export function TechnologyTable({ applications }: { readonly applications: readonly Application[] }) {
  return <DataTable items={applications} keyOf={({ name }) => name} columns={COLUMNS} />;
}
