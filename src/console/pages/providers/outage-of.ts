import type { QueueStatus } from "../../api/queue.ts";

/** What is known of a provider's health. */
export interface ProviderOutage {
  /** It is down for these models alone; empty: for all. */
  readonly models: readonly string[];
  readonly reason: string;
  /** Unix milliseconds. */
  readonly since: number;
}

/** The outage of each provider that is down, by its id; `standard` is that of the one that the variables name. */
export function outagesOf(
  queue: Pick<QueueStatus, "outages"> | null,
  standard: string,
): ReadonlyMap<string, ProviderOutage> {
  const outages = new Map<string, ProviderOutage>();
  for (const { provider, model, reason, since } of queue?.outages ?? []) {
    const id = provider || standard;
    const known = outages.get(id);
    // One of all models is told before those of some.
    if (known !== undefined && known.models.length === 0) continue;
    if (known === undefined || model === "") {
      outages.set(id, { models: model === "" ? [] : [model], reason, since });
    } else {
      outages.set(id, { ...known, models: [...known.models, model], since: Math.min(known.since, since) });
    }
  }
  return outages;
}

/** How an outage begins to be told, in a sentence: which provider is down, and for what. */
export function outageWords(provider: string, model: string): string {
  const who = provider === "" ? "The provider" : `The provider ${provider}`;
  return model === "" ? `${who} is down` : `${who} is down for ${model}`;
}
