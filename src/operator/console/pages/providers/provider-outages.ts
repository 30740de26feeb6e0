import type { QueueStatus } from "../../api/queue.ts";

/** Outage of a provider. */
export interface ProviderOutage {
  /** Affected models; empty: all models. */
  readonly models: readonly string[];
  readonly reason: string;
  /** Unix milliseconds. */
  readonly since: number;
}

/** Returns the outages by provider id. `standard` is the id of the default provider. */
export function findOutages(
  queue: Pick<QueueStatus, "outages"> | null,
  standard: string,
): ReadonlyMap<string, ProviderOutage> {
  const outages = new Map<string, ProviderOutage>();
  for (const { provider, model, reason, since } of queue?.outages ?? []) {
    const id = provider || standard;
    const outage = outages.get(id);
    // An outage of all models hides outages of single models.
    if (outage !== undefined && outage.models.length === 0) continue;
    if (outage === undefined || model === "") {
      outages.set(id, { models: model === "" ? [] : [model], reason, since });
    } else {
      outages.set(id, { ...outage, models: [...outage.models, model], since: Math.min(outage.since, since) });
    }
  }
  return outages;
}

/** Returns the start of a sentence about an outage: provider and model. */
export function describeOutage(provider: string, model: string): string {
  const subject = provider === "" ? "The provider" : `The provider ${provider}`;
  return model === "" ? `${subject} is down` : `${subject} is down for ${model}`;
}
