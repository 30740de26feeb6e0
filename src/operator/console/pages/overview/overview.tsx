import { readAccountNames } from "../../api/accounts.ts";
import { readActivity } from "../../api/activity.ts";
import { listKeys } from "../../api/keys.ts";
import { listProviders } from "../../api/providers.ts";
import { QUEUE_SHOWN, readQueue } from "../../api/queue.ts";
import { readSettings } from "../../api/settings.ts";
import { readUsage } from "../../api/usage.ts";
import { setQuery, useAddress } from "../../routing.ts";
import type { AccountNames } from "../../shared/account-names.ts";
import { ASKED_REQUESTS } from "../../shared/provider-usage.ts";
import { toNames, type UsageNames } from "../../shared/usage-names.ts";
import { Button } from "../../ui/button.tsx";
import { LoadState } from "../../ui/loading/load-state.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { type Loaded, useLoaded } from "../../ui/loading/use-loaded.ts";
import { Page } from "../../ui/page.tsx";
import { AccountState } from "./account-state.tsx";
import { ActivityCharts } from "./activity-charts.tsx";
import { ACTIVITY_RANGES } from "./activity-ranges.ts";
import { ErrorTable } from "./error-table.tsx";
import { LeaseTable } from "./lease-table.tsx";
import { PromptCache } from "./prompt-cache.tsx";
import { ProviderHealth } from "./provider-health.tsx";
import { isSetUp, SETUP_REFRESH_MS, SetupChecklist } from "./setup-checklist.tsx";
import { Slots } from "./slots.tsx";
import { texts } from "./texts.ts";
import { Tiles } from "./tiles.tsx";
import { TopLists } from "./top-lists.tsx";
import { Warnings } from "./warnings.tsx";

/** Refresh interval of the settings, which the warnings need, and of the providers. */
const REFRESH_MS = 300_000;
/** Refresh intervals of queue and activity. Longer ranges refresh less often, because they change slowly. */
const QUEUE_MS = 2_000;
const ACTIVITY_MS = 5_000;
const LONG_ACTIVITY_MS = 30_000;

const DAY_MS = 86_400_000;

/** Until the names are loaded. */
const NO_ACCOUNT_NAMES: AccountNames = new Map();

/** Limit of groups that are read. */
const MAX_GROUPS = 500;

/** Reads the usage of the last `length` milliseconds, by provider, by key and by model. */
async function readGroups(length: number, signal: AbortSignal) {
  const query = { from: Date.now() - length, granularity: "total", filters: {}, limit: MAX_GROUPS } as const;
  const [provider, key, model] = await Promise.all([
    readUsage({ ...query, groupBy: ["provider"], filters: ASKED_REQUESTS }, signal),
    readUsage({ ...query, groupBy: ["key"] }, signal),
    readUsage({ ...query, groupBy: ["model"] }, signal),
  ]);
  return { from: provider.from, provider: provider.items, key: key.items, model: model.items };
}

/** Reads the names of keys and accounts. The page shows no teams and users. */
async function readNames(signal: AbortSignal) {
  const [keys, account] = await Promise.all([listKeys(signal), readAccountNames(signal)]);
  return { key: toNames(keys.items), account };
}

/** Overview page. All numbers come from the gateway, so they do not depend on an open console. */
export function Overview() {
  const params = new URLSearchParams(useAddress().query);
  const [range, , length] =
    ACTIVITY_RANGES.find(([name]) => name === params.get("range")) ?? ACTIVITY_RANGES[1];
  const isShortRange = range === "15m" || range === "1h";
  const queue = useLoaded((signal) => readQueue(QUEUE_SHOWN, signal), "", QUEUE_MS);
  const activity = useLoaded(
    (signal) => readActivity(range, signal),
    range,
    isShortRange ? ACTIVITY_MS : LONG_ACTIVITY_MS,
  );
  const groups = useLoaded((signal) => readGroups(length, signal), range, LONG_ACTIVITY_MS);
  const providers = useLoaded(listProviders, "", isSetUp() ? REFRESH_MS : SETUP_REFRESH_MS);
  const settings = useLoaded(readSettings, "", REFRESH_MS);
  const loadedNames = useLoaded(readNames).data;
  const names: UsageNames = { ...loadedNames, provider: toNames(providers.data ?? []) };
  const accountNames = loadedNames?.account ?? NO_ACCOUNT_NAMES;
  // Show all parts at once, so that a late warning does not move the content.
  const hasSettled = ({ data, error }: Loaded<unknown>) => data !== null || error !== "";
  const missing = [queue, activity, groups, providers, settings].find((loaded) => !hasSettled(loaded));
  if (missing !== undefined) {
    return (
      <Page title={texts.overview}>
        <LoadState {...missing} />
      </Page>
    );
  }
  const actions = ACTIVITY_RANGES.map(([name, label]) => (
    <Button key={name} pressed={name === range} onClick={() => setQuery(`range=${name}`, true)}>
      {label}
    </Button>
  ));
  return (
    <Page title={texts.overview} actions={actions}>
      <Warnings queue={queue.data} settings={settings.data} />
      <Problem error={queue.error || activity.error || groups.error || providers.error} />
      <SetupChecklist
        settings={settings.data}
        providers={providers.data}
        answered={activity.data?.totals.succeeded ?? 0}
      />
      <Tiles providers={providers.data} queue={queue.data} activity={activity.data} />
      {providers.data !== null && providers.data.length > 0 && (
        <ProviderHealth providers={providers.data} queue={queue.data} usage={groups.data?.provider ?? []} />
      )}
      {activity.data !== null && (
        <section class="activity" aria-label={texts.activity}>
          <ActivityCharts activity={activity.data} />
          <ErrorTable activity={activity.data} />
        </section>
      )}
      {groups.data !== null && (
        <>
          <TopLists usage={groups.data} names={names} days={length > DAY_MS ? 7 : 1} />
          <PromptCache usage={groups.data} names={names} />
        </>
      )}
      {queue.data !== null && <AccountState queue={queue.data} names={accountNames} />}
      <Slots queue={queue.data} names={accountNames} />
      <LeaseTable queue={queue.data} names={accountNames} />
    </Page>
  );
}
