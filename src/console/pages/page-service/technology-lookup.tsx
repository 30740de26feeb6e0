import { useState } from "preact/hooks";
import { detectTechnologies, type Technologies } from "../../api/page-service.ts";
import { Button } from "../../ui/button.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { TextField } from "../../ui/field.tsx";
import { plural } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { useWork } from "../../ui/use-work.ts";

const COLUMNS: readonly Column<Technologies["applications"][number]>[] = [
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

/** Finds out what a page is built with. */
export function TechnologyLookup() {
  const [url, setUrl] = useState("");
  const [found, setFound] = useState<Technologies | null>(null);
  const { busy, error, onSubmit } = useWork();
  const look = async () => setFound(await detectTechnologies(url));
  return (
    <div class="stack">
      <form class="inline-form" onSubmit={onSubmit(look)}>
        <TextField label="Address" value={url} onChange={setUrl} required placeholder="example.com" />
        <Button kind="primary" type="submit" busy={busy}>
          Detect
        </Button>
      </form>
      <Problem error={error} />
      {found !== null && (
        <>
          <p role="status">
            {plural(found.applications.length, "technology", "technologies")} found at {found.url}
          </p>
          <DataTable items={found.applications} keyOf={({ name }) => name} columns={COLUMNS} />
        </>
      )}
    </div>
  );
}
