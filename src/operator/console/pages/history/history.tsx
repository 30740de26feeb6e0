import { useState } from "preact/hooks";
import { clearHistory, exportHistory, listHistory } from "../../api/history.ts";
import { navigateTo, useAddress } from "../../routing.ts";
import { Button } from "../../ui/button.tsx";
import { formatCount } from "../../ui/count.ts";
import { Empty } from "../../ui/empty.tsx";
import { Confirm } from "../../ui/forms/confirm.tsx";
import { LoadState } from "../../ui/loading/load-state.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Page } from "../../ui/page.tsx";
import { saveFile } from "../../ui/save-file.ts";
import { Pager } from "../../ui/tables/pager.tsx";
import { SearchBox } from "../../ui/tables/search-box.tsx";
import { usePaging } from "../../ui/tables/use-paging.ts";
import { showToast } from "../../ui/toasts.tsx";
import { words } from "../../ui/words.ts";
import { countFilters, toApiQuery } from "./filter-fields.ts";
import { Filters } from "./filters.tsx";
import { HistoryTable } from "./history-table.tsx";
import { RecordView } from "./record-view.tsx";
import { SavedList } from "./saved-list.tsx";
import { texts } from "./texts.ts";

/** More rows per page would block the screen at each refresh. An export contains all records. */
const LARGEST_PAGE = 200;
const PAGE_SIZES = [25, 50, 100, LARGEST_PAGE] as const;
const REFRESH_MS = 1_500;
/** Interval for text searches and long pages, which cost more. */
const COSTLY_REFRESH_MS = 6_000;
const LONG_PAGE = 50;

/** Page that lists the generations, newest first, and refreshes itself. */
export function History({ detail }: { readonly detail: string }) {
  const address = useAddress();
  const paging = usePaging(LARGEST_PAGE);
  const { query, page, size } = paging;
  const apiQuery = toApiQuery(address.query);
  const isFiltered = countFilters(address.query) > 0;
  const [paused, setPaused] = useState(false);
  const exporting = useAsyncAction();
  const save = (format: "ndjson" | "csv") =>
    void exporting.run(async () =>
      saveFile(`history.${format}`, await exportHistory(apiQuery, format), "text/plain"),
    );
  const refreshMs = query === "" && size <= LONG_PAGE ? REFRESH_MS : COSTLY_REFRESH_MS;
  const [clearing, setClearing] = useState(false);
  const { data, error, reload } = useLoaded(
    (signal) => listHistory(apiQuery, page, size, signal),
    address.query,
    paused ? 0 : refreshMs,
  );
  return (
    <Page
      title={words.history}
      lead={texts.lead}
      actions={
        <>
          <Button pressed={!paused} onClick={() => setPaused(!paused)}>
            {paused ? texts.paused : texts.live}
          </Button>
          {data !== null && data.total > 0 && (
            <>
              <Button busy={exporting.busy} onClick={() => save("ndjson")}>
                {texts.downloadNdjson}
              </Button>
              <Button busy={exporting.busy} onClick={() => save("csv")}>
                {texts.downloadCsv}
              </Button>
              <Button needs="owner" onClick={() => setClearing(true)}>
                {texts.clearHistory}
              </Button>
            </>
          )}
        </>
      }
    >
      <div class="toolbar">
        <SearchBox label={texts.searchLabel} value={query} onSearch={paging.search} />
      </div>
      <SavedList />
      <Filters />
      <LoadState {...{ data, error, reload }} />
      <Problem error={exporting.error} />
      {data !== null && data.items.length === 0 && (
        <div class="panel">
          {query !== "" || isFiltered ? (
            <Empty icon="history" title={texts.nothingMatches}>
              {query === "" ? texts.noRecordMatchesFilters : texts.noRecordContains(query)}
            </Empty>
          ) : (
            <Empty
              icon="history"
              title={data.limit === 0 ? texts.historySwitchedOff : texts.noGenerationsYet}
            >
              {data.limit === 0 ? texts.historyOffHint : texts.noGenerationsHint}
            </Empty>
          )}
        </div>
      )}
      {data !== null && data.items.length > 0 && (
        <>
          <HistoryTable items={data.items} query={address.query} />
          <Pager
            paging={paging}
            pages={data.total_pages}
            sizes={PAGE_SIZES}
            total={texts.newestKept(texts.recordCount(data.total), formatCount(data.limit))}
          />
        </>
      )}
      {detail !== "" && (
        <RecordView
          key={detail}
          id={detail}
          onClose={() => navigateTo("history", "", address.query)}
          onDeleted={reload}
        />
      )}
      {clearing && (
        <Confirm
          title={texts.clearHistoryTitle}
          action={texts.clearHistory}
          onClose={() => setClearing(false)}
          run={async () => {
            await clearHistory();
            showToast(texts.historyCleared);
            await reload();
          }}
        >
          <p>{texts.clearWarning}</p>
        </Confirm>
      )}
    </Page>
  );
}
