import { useState } from "preact/hooks";
import { type Metadata, readMetadata } from "../../api/page-service.ts";
import { Button } from "../../ui/button.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { CheckField, TextField } from "../../ui/field.tsx";
import { plural } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { useWork } from "../../ui/use-work.ts";
import { type MetadataRow, metadataRows } from "./metadata-rows.ts";
import { TechnologyTable } from "./technology-table.tsx";

/** A foreign text has no say in the direction of what stands around it. */
const COLUMNS: readonly Column<MetadataRow>[] = [
  { title: "What", cell: ({ what }) => <bdi>{what}</bdi> },
  {
    title: "As the page says it",
    cell: ({ said, address }) =>
      address ? (
        <a href={said} rel="noreferrer" target="_blank">
          {said}
        </a>
      ) : (
        <bdi>{said}</bdi>
      ),
  },
  { title: "More of it", class: "muted", cell: ({ note }) => <bdi>{note}</bdi> },
];

/** Reads what a page says of itself. */
export function MetadataLookup() {
  const [url, setUrl] = useState("");
  const [withTechnologies, setWithTechnologies] = useState(false);
  const [found, setFound] = useState<Metadata | null>(null);
  const { busy, error, onSubmit } = useWork();
  const read = async () => {
    // A failure does not stand beside what another page says.
    setFound(null);
    setFound(await readMetadata(url, withTechnologies));
  };
  return (
    <div class="stack">
      <form class="inline-form" onSubmit={onSubmit(read)}>
        <TextField label="Address" value={url} onChange={setUrl} required placeholder="example.com" />
        <Button kind="primary" type="submit" busy={busy}>
          Read metadata
        </Button>
        <CheckField label="Technologies, too" value={withTechnologies} onChange={setWithTechnologies} />
      </form>
      <Problem error={error} />
      {found !== null && <Found metadata={found} />}
    </div>
  );
}

/** What a page says of itself, and what it is built with when that was asked for. */
function Found({ metadata }: { readonly metadata: Metadata }) {
  const { url, applications } = metadata;
  const rows = metadataRows(metadata);
  return (
    <>
      <p role="status">
        {rows.length === 0 ? `${url} says nothing of itself` : `What ${url} says of itself`}
      </p>
      {rows.length > 0 && (
        <DataTable
          items={rows}
          // Several may say the same.
          keyOf={(row) => String(rows.indexOf(row))}
          columns={COLUMNS}
          class="metadata-table"
        />
      )}
      {applications !== undefined && (
        <>
          <p>{plural(applications.length, "technology", "technologies")} found</p>
          <TechnologyTable applications={applications} />
        </>
      )}
    </>
  );
}
