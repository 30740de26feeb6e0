import type { ProviderView } from "../../api/providers.ts";
import { Badge } from "../../ui/badge.tsx";
import { formatPlural, formatTime } from "../../ui/format.ts";
import type { ProviderOutage } from "./provider-outages.ts";

interface ProviderStateProps {
  readonly enabled: boolean;
  /** undefined: no known outage. */
  readonly outage: ProviderOutage | undefined;
  /** Result of the last scheduled model refresh. */
  readonly asked: ProviderView["models_asked"];
}

/** Shows a provider's health. */
export function ProviderState({ enabled, outage, asked }: ProviderStateProps) {
  if (!enabled) return <Badge tone="neutral">switched off</Badge>;
  if (outage === undefined && asked?.error) {
    const title = `${asked.error}\n${formatTime(asked.at)}`;
    return (
      <>
        <Badge tone="warn" title={title}>
          does not tell its models
        </Badge>
        <span class="muted cut" title={title}>
          {asked.error}
        </span>
      </>
    );
  }
  if (outage === undefined) return <span class="muted">no trouble</span>;
  const { models, reason, since } = outage;
  const title = `${reason}\nSince ${formatTime(since)}${models.length === 0 ? "" : `, for ${models.join(", ")}`}`;
  return (
    <>
      <Badge tone={models.length === 0 ? "bad" : "warn"} title={title}>
        {models.length === 0 ? "down" : `down for ${formatPlural(models.length, "model")}`}
      </Badge>
      <span class="muted cut" title={title}>
        {reason}
      </span>
    </>
  );
}
