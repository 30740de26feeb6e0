import { useState } from "preact/hooks";
import { DEFAULT_PROVIDER } from "../../../../core/config/provider-id.ts";
import { HOUR_MS } from "../../../../core/units.ts";
import {
  changeProvider,
  deleteProvider,
  listProviders,
  type ProviderView,
  readProvider,
} from "../../api/providers.ts";
import { listProxies } from "../../api/proxies.ts";
import { QUEUE_SHOWN, readQueue } from "../../api/queue.ts";
import { readSettings } from "../../api/settings.ts";
import type { UsageItem } from "../../api/usage.ts";
import { formatHref } from "../../routing.ts";
import { LimitBars } from "../../shared/limit-bars.tsx";
import { listLimitUse } from "../../shared/limit-use.ts";
import { findOutages, findTroubles } from "../../shared/provider-outages.ts";
import { providerStateColumn } from "../../shared/provider-state-column.tsx";
import {
  findProviderUsage,
  findTestModel,
  formatProviderErrors,
  readProviderUsage,
} from "../../shared/provider-usage.ts";
import { formatDriver } from "../../ui/api-styles.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { formatDuration } from "../../ui/format.ts";
import { AddButton, EditButtons, EditDialogs, useEditing } from "../../ui/forms/editing.tsx";
import { LoadedForm } from "../../ui/forms/loaded-form.tsx";
import { LoadState } from "../../ui/loading/load-state.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { useLoaded } from "../../ui/loading/use-loaded.ts";
import { Page, Panel } from "../../ui/page.tsx";
import { actionColumn, type Column } from "../../ui/tables/data-table.tsx";
import { PagedTable } from "../../ui/tables/paged-table.tsx";
import { TestButton } from "../../ui/test-button.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { words } from "../../ui/words.ts";
import { DefaultProviderForm } from "./default-provider-form.tsx";
import { formatModelCount, listModels } from "./model-list.ts";
import { ProviderForm } from "./provider-form.tsx";
import { ProviderModels } from "./provider-models.tsx";
import { texts } from "./texts.ts";

/** Refresh interval of outages in milliseconds. */
const REFRESH_MS = 5_000;
/** Refresh interval of the usage in milliseconds. */
const USAGE_MS = 30_000;

/** Returns a link to the provider's accounts. */
const accountsLink = ({ id, read_only }: ProviderView) =>
  formatHref(
    "accounts",
    "",
    new URLSearchParams({ provider: read_only ? DEFAULT_PROVIDER : `:${id}` }).toString(),
  );

const LIMIT_COLUMN: Column<ProviderView> = {
  title: words.limits,
  class: "muted",
  cell: (provider) => <LimitBars uses={listLimitUse(provider)} unpricedModels={provider.unpriced_models} />,
};

/** Page that lists the providers, or the models of one provider. */
export function Providers({ detail }: { readonly detail: string }) {
  return detail === "" ? <ProviderList /> : <ProviderModels key={detail} id={detail} />;
}

function ProviderList() {
  const { data, error, reload } = useLoaded(listProviders);
  const { data: queue } = useLoaded((signal) => readQueue(QUEUE_SHOWN, signal), "", REFRESH_MS);
  const proxies = useLoaded(listProxies).data ?? [];
  const usage =
    useLoaded((signal) => readProviderUsage(Date.now() - HOUR_MS, signal), "", USAGE_MS).data ?? [];
  const outages = findOutages(queue);
  const troubles = findTroubles(queue);
  const editing = useEditing<ProviderView>(reload);
  const [editsDefault, setEditsDefault] = useState(false);
  const switching = useAsyncAction();
  const turn = ({ id, name, enabled }: ProviderView) =>
    switching.run(async () => {
      await changeProvider(id, { enabled: !enabled });
      await editing.changed(texts.switched(name || id, !enabled));
    });
  const add = <AddButton noun={texts.providerNoun} onClick={editing.add} />;
  const hasLimits = (data ?? []).some((provider) => listLimitUse(provider).length > 0);
  const columns: Column<ProviderView>[] = [
    {
      title: words.name,
      cell: ({ id, name, read_only }) => (
        <>
          <strong>
            <TruncatedText text={name || id} />
          </strong>
          {name !== "" && <span class="muted mono block">{id}</span>}
          {read_only && <span class="muted block">{texts.fromVariables}</span>}
        </>
      ),
    },
    {
      title: texts.driverAndAddress,
      cell: ({ driver, base_url }) => (
        <>
          {formatDriver(driver)}
          <span class="muted mono block">
            <TruncatedText text={base_url} />
          </span>
        </>
      ),
    },
    {
      title: words.accounts,
      class: "tabular",
      cell: (provider) =>
        provider.accounts === 0 && !provider.needs_account ? (
          <span class="muted">{provider.has_token ? texts.tokenWord : texts.noAccountNeeded}</span>
        ) : (
          <a href={accountsLink(provider)}>{words.accountCount(provider.accounts)}</a>
        ),
    },
    {
      title: words.models,
      class: "tabular",
      cell: (provider) => (
        <a href={formatHref("providers", provider.id)}>
          {provider.read_only ? texts.gatewaysOwn : formatModelCount(listModels(provider))}
          <span class="hidden-text"> {texts.of(provider.id)}</span>
        </a>
      ),
    },
    providerStateColumn(outages, troubles),
    {
      title: texts.lastHour,
      class: "tabular nowrap",
      cell: (provider) => <LastHour usage={findProviderUsage(provider, usage)} />,
    },
    // Most providers have no limits, and the table has little room.
    ...(hasLimits ? [LIMIT_COLUMN] : []),
    actionColumn((provider) => (
      <>
        <TestButton label={texts.testProvider(provider.id)} findModel={() => findTestModel(provider)} />
        {provider.read_only && (
          <Button
            kind="quiet"
            needs="operator"
            label={texts.editLimitsAndCache}
            onClick={() => setEditsDefault(true)}
          >
            {words.edit}
          </Button>
        )}
        {!provider.read_only && (
          <>
            <Button
              kind="quiet"
              needs="operator"
              label={(provider.enabled ? texts.disableId : texts.enableId)(provider.id)}
              disabled={switching.busy}
              onClick={() => void turn(provider)}
            >
              {provider.enabled ? texts.disable : texts.enable}
            </Button>
            <EditButtons editing={editing} item={provider} />
          </>
        )}
      </>
    )),
  ];
  return (
    <Page title={words.providers} lead={texts.lead} actions={add}>
      <LoadState {...{ data, error, reload }} />
      <Problem error={switching.error} />
      {data !== null && (
        <Panel>
          <PagedTable
            items={data}
            keyOf={({ id }) => id}
            columns={columns}
            class="providers-table"
            empty={
              <Empty icon="providers" title={texts.noProviders} action={add}>
                {texts.noProvidersHint}
              </Empty>
            }
          />
        </Panel>
      )}
      {editsDefault && (
        <LoadedForm
          title={texts.defaultProvider}
          read={readSettings}
          onClose={() => setEditsDefault(false)}
          form={(settings, version) => (
            <DefaultProviderForm
              settings={settings}
              version={version}
              onClose={() => setEditsDefault(false)}
              onSaved={editing.changed}
            />
          )}
        />
      )}
      <EditDialogs
        editing={editing}
        noun={texts.providerNoun}
        form={(provider, props) => <ProviderForm provider={provider} proxies={proxies} {...props} />}
        read={({ id }) => readProvider(id)}
        remove={({ id }) => deleteProvider(id)}
        warning={({ id, accounts }) => (
          <>
            {texts.deletionWarning(<strong>{id}</strong>)}
            {accounts > 0 && texts.accountsWarning(texts.accountsBelongCount(accounts))}
          </>
        )}
      />
    </Page>
  );
}

/** Requests, error rate and latency of the last hour. The rate is that of attempts, of which a request may need several. */
function LastHour({ usage }: { readonly usage: UsageItem | undefined }) {
  if (usage === undefined) return <span class="muted">{texts.noRequests}</span>;
  const { requests, attempts, first_token_ms: firstToken, duration_ms: duration } = usage;
  const time = firstToken ?? duration;
  return (
    <>
      {texts.requestCount(requests)}
      {attempts !== requests && <span class="muted block">{texts.attemptCount(attempts)}</span>}
      <span class="muted block">{texts.errorsInRequests(formatProviderErrors(usage))}</span>
      {time !== null && <span class="muted block">p95 {formatDuration(time.p95)}</span>}
    </>
  );
}
