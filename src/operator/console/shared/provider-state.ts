import type { ProviderView } from "../api/providers.ts";
import { formatTime } from "../ui/format.ts";
import { words } from "../ui/words.ts";
import type { ProviderOutage, ProviderTrouble } from "./provider-outages.ts";
import { texts } from "./texts.ts";

/** What the console knows of a provider's health. */
export interface KnownHealth {
  /** undefined: no known outage. */
  readonly outage: ProviderOutage | undefined;
  /** undefined: it is healthy. */
  readonly trouble: ProviderTrouble | undefined;
  /** Result of the last scheduled model refresh. */
  readonly asked: ProviderView["models_asked"];
}

/** What is wrong with a provider, as shown. */
interface ProviderState {
  readonly tone: "bad" | "warn";
  readonly label: string;
  readonly reason: string;
  readonly title: string;
}

/** Returns what is wrong with a provider, the worst first; null: nothing. */
export function findProviderState({ outage, trouble, asked }: KnownHealth): ProviderState | null {
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
