import { useState } from "preact/hooks";
import { clearHistory, listHistory } from "../../api/history.ts";
import { go, usePlace } from "../../routing.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Empty } from "../../ui/empty.tsx";
import { count, plural } from "../../ui/format.ts";
import { Page } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { Problem } from "../../ui/problem.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { toast } from "../../ui/toasts.tsx";
import { useLoaded } from "../../ui/use-loaded.ts";
import { usePaging } from "../../ui/use-paging.ts";
import { HistoryTable } from "./history-table.tsx";
import { RecordView } from "./record-view.tsx";

const LARGEST_PAGE = 1_000;
const PAGE_SIZES = [25, 50, 200, LARGEST_PAGE] as const;
const REFRESH_MS = 1_500;

/** What was generated, newest first; it goes on while one looks at it. */
export function History({ detail }: { readonly detail: string }) {
  const place = usePlace();
  const paging = usePaging(LARGEST_PAGE);
  const { query, page, size } = paging;
  const [clearing, setClearing] = useState(false);
  const { data, error, reload } = useLoaded(
    (signal) => listHistory(query, page, size, signal),
    paging.key,
    REFRESH_MS,
  );
  return (
    <Page
      title="History"
      lead="Every generation in every API style, with the provider's answer as it came."
      actions={
        data !== null && data.total > 0 && <Button onClick={() => setClearing(true)}>Clear history</Button>
      }
    >
      <div class="toolbar">
        <SearchBox
          label="Search model, account, source, status, code or text"
          value={query}
          onSearch={paging.search}
        />
      </div>
      <Problem error={error} retry={reload} />
      {data !== null && data.items.length === 0 && (
        <div class="panel">
          {query !== "" ? (
            <Empty icon="history" title="Nothing matches">
              No record has “{query}” in it.
            </Empty>
          ) : (
            <Empty
              icon="history"
              title={data.limit === 0 ? "The history is switched off" : "No generations yet"}
            >
              {data.limit === 0
                ? "Set how many records are kept on the Settings page."
                : "Send something in the playground, and it appears here while it is generated."}
            </Empty>
          )}
        </div>
      )}
      {data !== null && data.items.length > 0 && (
        <>
          <HistoryTable items={data.items} query={place.query} />
          <Pager
            paging={paging}
            pages={data.total_pages}
            sizes={PAGE_SIZES}
            said={`${plural(data.total, "record")}; the newest ${count(data.limit)} are kept`}
          />
        </>
      )}
      {detail !== "" && (
        <RecordView
          key={detail}
          id={detail}
          onClose={() => go("history", "", place.query)}
          onDeleted={reload}
        />
      )}
      {clearing && (
        <Confirm
          title="Clear the history?"
          action="Clear history"
          onClose={() => setClearing(false)}
          run={async () => {
            await clearHistory();
            toast("History cleared");
            await reload();
          }}
        >
          <p>All records are deleted. This cannot be undone.</p>
        </Confirm>
      )}
    </Page>
  );
}
