import { useState } from "preact/hooks";
import { type Metadata, readMetadata } from "../../api/page-service.ts";
import { Button } from "../../ui/button.tsx";
import { CheckField, TextField } from "../../ui/forms/field.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { type Column, DataTable } from "../../ui/tables/data-table.tsx";
import { words } from "../../ui/words.ts";
import { type MetadataRow, metadataRows } from "./metadata-rows.ts";
import { TechnologyTable } from "./technology-table.tsx";
import { texts } from "./texts.ts";

/** `<bdi>` isolates foreign text, so that it does not change the text direction around it. */
const COLUMNS: readonly Column<MetadataRow>[] = [
  { title: texts.field, cell: ({ what }) => <bdi>{what}</bdi> },
  {
    title: texts.value,
    cell: ({ value, address }) =>
      address ? (
        <a href={value} rel="noreferrer" target="_blank">
          {value}
        </a>
      ) : (
        <bdi>{value}</bdi>
      ),
  },
  { title: texts.details, class: "muted", cell: ({ note }) => <bdi>{note}</bdi> },
];

/** Form that reads a page's metadata. */
export function MetadataLookup() {
  const [url, setUrl] = useState("");
  const [withTechnologies, setWithTechnologies] = useState(false);
  const [metadata, setMetadata] = useState<Metadata | null>(null);
  const { busy, error, onSubmit } = useAsyncAction();
  const read = async () => {
    // Clear the previous result, so that an error does not appear beside it.
    setMetadata(null);
    setMetadata(await readMetadata(url, withTechnologies));
  };
  return (
    <div class="stack">
      <form class="inline-form" onSubmit={onSubmit(read)}>
        <TextField label={words.address} value={url} onChange={setUrl} required placeholder="example.com" />
        <Button kind="primary" type="submit" busy={busy}>
          {texts.readMetadata}
        </Button>
        <CheckField
          label={texts.includeTechnologies}
          value={withTechnologies}
          onChange={setWithTechnologies}
        />
      </form>
      <Problem error={error} />
      {metadata !== null && <MetadataResult metadata={metadata} />}
    </div>
  );
}

/** Shows a page's metadata and, if requested, its technologies. */
function MetadataResult({ metadata }: { readonly metadata: Metadata }) {
  const { url, applications } = metadata;
  const rows = metadataRows(metadata);
  return (
    <>
      <p role="status">{rows.length === 0 ? texts.hasNoMetadata(url) : texts.metadata(url)}</p>
      {rows.length > 0 && (
        <DataTable
          items={rows}
          // Several rows may have the same text.
          keyOf={(row) => String(rows.indexOf(row))}
          columns={COLUMNS}
          class="metadata-table"
        />
      )}
      {applications !== undefined && (
        <>
          <p>{texts.found(texts.technologyCount(applications.length))}</p>
          <TechnologyTable applications={applications} />
        </>
      )}
    </>
  );
}
