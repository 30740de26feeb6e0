import { useMemo } from "preact/hooks";
import { type AuditEntry, listAudit } from "../../api/audit.ts";
import { FieldChanges } from "../../shared/field-changes.tsx";
import { mergeNames, useNames } from "../../shared/usage-names.ts";
import { Empty } from "../../ui/empty.tsx";
import { LoadState } from "../../ui/loading/load-state.tsx";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Page } from "../../ui/page.tsx";
import { type Column, DataTable } from "../../ui/tables/data-table.tsx";
import { Pager } from "../../ui/tables/pager.tsx";
import { SearchBox } from "../../ui/tables/search-box.tsx";
import { usePaging } from "../../ui/tables/use-paging.ts";
import { Timestamp } from "../../ui/timestamp.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { words } from "../../ui/words.ts";
import { describeActor, describeSession } from "./describe-actor.ts";
import { texts } from "./texts.ts";

const LARGEST_PAGE = 1_000;
const PAGE_SIZES = [25, 50, 200, LARGEST_PAGE] as const;
const REFRESH_MS = 5_000;
/** Number of changes that are visible without expanding the entry. */
const COLLAPSED_CHANGES = 3;

const columnsWith = (names: ReadonlyMap<string, string>): readonly Column<AuditEntry>[] => [
  { title: words.time, class: "tabular", cell: ({ at }) => <Timestamp at={at} /> },
  {
    title: texts.who,
    cell: (entry) => (
      <>
        <span class="block">{describeActor(entry)}</span>
        <span class="muted block">{describeSession(entry)}</span>
        <span class="muted block">{entry.address}</span>
      </>
    ),
  },
  { title: texts.what, class: "mono", cell: ({ action }) => <TruncatedText text={action} /> },
  {
    title: texts.changes,
    class: "whole",
    cell: ({ changes, more }) =>
      changes.length <= COLLAPSED_CHANGES ? (
        <FieldChanges changes={changes} more={more} names={names} />
      ) : (
        <details>
          <summary>{texts.changeCount(changes.length + more)}</summary>
          <FieldChanges changes={changes} more={more} names={names} />
        </details>
      ),
  },
];

/** Page that lists the changes by administrators, newest first. */
export function Audit() {
  const paging = usePaging(LARGEST_PAGE);
  const { query, page, size } = paging;
  const { data, error, reload } = useLoaded(
    (signal) => listAudit(query, page, size, signal),
    paging.key,
    REFRESH_MS,
  );
  const names = useNames();
  const columns = useMemo(() => columnsWith(mergeNames(names)), [names]);
  return (
    <Page title={texts.audit} lead={texts.lead}>
      <div class="toolbar">
        <SearchBox label={texts.searchLabel} value={query} onSearch={paging.search} />
      </div>
      <LoadState {...{ data, error, reload }} />
      {data !== null && data.items.length === 0 && (
        <div class="panel">
          <Empty icon="audit" title={query === "" ? texts.noChangesYet : texts.nothingMatches}>
            {query === "" ? texts.noChangesHint : texts.noChangeContains(query)}
          </Empty>
        </div>
      )}
      {data !== null && data.items.length > 0 && (
        <>
          <DataTable
            items={data.items}
            keyOf={({ id }) => String(id)}
            columns={columns}
            class="audit-table"
            box="panel"
          />
          <Pager
            paging={paging}
            pages={data.total_pages}
            sizes={PAGE_SIZES}
            total={texts.newestKept(texts.entryCount(data.total))}
          />
        </>
      )}
    </Page>
  );
}
