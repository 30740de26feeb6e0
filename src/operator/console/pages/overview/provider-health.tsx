import type { ProviderView } from "../../api/providers.ts";
import type { QueueStatus } from "../../api/queue.ts";
import type { UsageItem } from "../../api/usage.ts";
import { formatHref } from "../../routing.ts";
import { findOutages, findTroubles } from "../../shared/provider-outages.ts";
import { providerStateColumn } from "../../shared/provider-state-column.tsx";
import { findProviderUsage, findTestModel } from "../../shared/provider-usage.ts";
import { Panel } from "../../ui/page.tsx";
import { actionColumn, type Column, DataTable } from "../../ui/tables/data-table.tsx";
import { TestButton } from "../../ui/test-button.tsx";
import { TruncatedText } from "../../ui/truncated-text.tsx";
import { useIsNarrow } from "../../ui/use-media.ts";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";
import { usageColumns } from "./usage-columns.tsx";

/** Most providers that are shown; those with trouble come first. */
const MAX_PROVIDERS = { wide: 8, narrow: 2 } as const;

interface ProviderHealthProps {
  readonly providers: readonly ProviderView[];
  readonly queue: QueueStatus | null;
  /** Usage of the selected time range, by provider. */
  readonly usage: readonly UsageItem[];
}

/** Shows each provider's state, requests, errors, latency and last error, with a button that tests it. */
export function ProviderHealth({ providers, queue, usage }: ProviderHealthProps) {
  const isNarrow = useIsNarrow();
  const outages = findOutages(queue);
  const troubles = findTroubles(queue);
  const urgency = ({ id, enabled }: ProviderView) =>
    !enabled ? 3 : outages.has(id) ? 0 : troubles.has(id) ? 1 : 2;
  const columns: readonly Column<ProviderView>[] = [
    {
      title: texts.provider,
      cell: ({ id, name }) => (
        <a href={formatHref("providers")}>
          <TruncatedText text={name || id} />
        </a>
      ),
    },
    providerStateColumn(outages, troubles),
    ...usageColumns<ProviderView>((provider) => findProviderUsage(provider, usage)),
    actionColumn((provider) => (
      <TestButton label={texts.testProvider(provider.id)} findModel={() => findTestModel(provider)} />
    )),
  ];
  return (
    <Panel title={words.providers}>
      <DataTable
        items={providers.toSorted((a, b) => urgency(a) - urgency(b))}
        keyOf={({ id }) => id}
        columns={columns}
        most={isNarrow ? MAX_PROVIDERS.narrow : MAX_PROVIDERS.wide}
      />
      <p class="hint">{texts.failedAttemptsHint}</p>
    </Panel>
  );
}
