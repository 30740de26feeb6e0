import type { ProviderView } from "../api/providers.ts";
import { Badge } from "../ui/badge.tsx";
import type { Column } from "../ui/tables/data-table.tsx";
import type { ProviderOutage, ProviderTrouble } from "./provider-outages.ts";
import { findProviderState, type KnownHealth } from "./provider-state.ts";
import { texts } from "./texts.ts";

interface ProviderStateProps extends KnownHealth {
  readonly enabled: boolean;
}

/** Shows a provider's health. */
function ProviderState({ enabled, ...known }: ProviderStateProps) {
  if (!enabled) return <Badge tone="neutral">{texts.switchedOffWord}</Badge>;
  const state = findProviderState(known);
  if (state === null) {
    return (
      <span class="muted" title={texts.healthyHint}>
        {texts.healthy}
      </span>
    );
  }
  const { tone, label, reason, title } = state;
  return (
    <>
      <Badge tone={tone} title={title}>
        {label}
      </Badge>
      <span class="muted cut" title={title}>
        {reason}
      </span>
    </>
  );
}

/** The column with the health of each provider. */
export function providerStateColumn(
  outages: ReadonlyMap<string, ProviderOutage>,
  troubles: ReadonlyMap<string, ProviderTrouble>,
): Column<ProviderView> {
  return {
    title: texts.stateNow,
    cell: ({ id, enabled, models_asked }) => (
      <ProviderState
        enabled={enabled}
        outage={outages.get(id)}
        trouble={troubles.get(id)}
        asked={models_asked}
      />
    ),
  };
}
