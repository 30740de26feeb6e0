import type { ProviderView } from "../api/providers.ts";
import { Badge } from "../ui/badge.tsx";
import { formatTime } from "../ui/format.ts";
import type { Column } from "../ui/tables/data-table.tsx";
import { words } from "../ui/words.ts";
import type { ProviderOutage, ProviderTrouble } from "./provider-outages.ts";
import { texts } from "./texts.ts";

interface ProviderStateProps {
  readonly enabled: boolean;
  /** undefined: no known outage. */
  readonly outage: ProviderOutage | undefined;
  /** undefined: it is healthy. */
  readonly trouble: ProviderTrouble | undefined;
  /** Result of the last scheduled model refresh. */
  readonly asked: ProviderView["models_asked"];
}

interface State {
  readonly tone: "bad" | "warn";
  readonly label: string;
  readonly reason: string;
  readonly title: string;
}

/** Returns what is wrong with a provider, the worst first; null: nothing. */
export function findProviderState({
  outage,
  trouble,
  asked,
}: Omit<ProviderStateProps, "enabled">): State | null {
  if (outage !== undefined && (outage.models.length === 0 || trouble?.health !== "down")) {
    const { models, reason, since } = outage;
    const title = texts.since(
      reason,
      formatTime(since),
      models.length === 0 ? "" : texts.for(models.join(", ")),
    );
    return models.length === 0
      ? { tone: "bad", label: texts.downWord, reason, title }
      : { tone: "warn", label: texts.downForModels(words.modelCount(models.length)), reason, title };
  }
  if (trouble !== undefined) {
    const { reason = "", at = 0 } = trouble.last_error ?? {};
    const title = at === 0 ? reason : texts.lastFailure(reason, formatTime(at));
    return trouble.health === "down"
      ? { tone: "bad", label: texts.downWord, reason, title }
      : { tone: "warn", label: texts.degraded, reason, title };
  }
  if (!asked?.error) return null;
  const title = `${asked.error}\n${formatTime(asked.at)}`;
  return { tone: "warn", label: texts.modelListUnavailable, reason: asked.error, title };
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
