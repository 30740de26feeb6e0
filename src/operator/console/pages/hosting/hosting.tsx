import { readCredentials, readHostingStatus } from "../../api/hosting.ts";
import { Badge } from "../../ui/badge.tsx";
import { formatFullTime } from "../../ui/format.ts";
import { LoadState } from "../../ui/loading/load-state.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Page, Panel } from "../../ui/page.tsx";
import { words } from "../../ui/words.ts";
import { SyncForm } from "./sync-form.tsx";
import { texts } from "./texts.ts";

/** Page that sends the configuration to Vercel and shows whether Vercel's copy is current. */
export function Hosting() {
  const status = useLoaded(readHostingStatus);
  const credentials = useLoaded(readCredentials);
  const { data } = status;
  return (
    <Page title={words.hostingSync} lead={texts.lead}>
      <LoadState {...status} />
      <Problem error={credentials.error} retry={credentials.reload} />
      {data !== null && (
        <Panel title={words.state}>
          <div class="row">
            {data.synced ? (
              <Badge tone="good">{texts.upToDate}</Badge>
            ) : data.has_synced_before ? (
              <Badge tone="warn">{texts.changedSinceLastSync}</Badge>
            ) : (
              <Badge tone="neutral">{texts.neverSynced}</Badge>
            )}
            {data.has_synced_before && (
              <span class="muted">{texts.lastSync(formatFullTime((data.last_sync_time ?? 0) * 1_000))}</span>
            )}
          </div>
        </Panel>
      )}
      {credentials.data !== null && <SyncForm credentials={credentials.data} onDone={status.reload} />}
    </Page>
  );
}
