import { toProviderId } from "../../../core/config/provider-id.ts";
import type { QueueStatus } from "../api/queue.ts";
import { texts } from "./texts.ts";

/** Outage of a provider. */
export interface ProviderOutage {
  /** Affected models; empty: all models. */
  readonly models: readonly string[];
  readonly reason: string;
  /** Unix milliseconds. */
  readonly since: number;
}

/** Returns the outages by provider id. */
export function findOutages(queue: Pick<QueueStatus, "outages"> | null): ReadonlyMap<string, ProviderOutage> {
  const outages = new Map<string, ProviderOutage>();
  for (const { provider, model, reason, since } of queue?.outages ?? []) {
    const id = toProviderId(provider);
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

/** A provider that is not healthy. */
export type ProviderTrouble = NonNullable<QueueStatus["troubles"]>[number];

/** Returns the troubles by provider id. */
export function findTroubles(
  queue: Pick<QueueStatus, "troubles"> | null,
): ReadonlyMap<string, ProviderTrouble> {
  return new Map((queue?.troubles ?? []).map((trouble) => [toProviderId(trouble.provider), trouble]));
}

/** The troubles that no outage tells already. */
export function findTroublesBesideOutages({
  troubles = [],
  outages,
}: Pick<QueueStatus, "troubles" | "outages">): ProviderTrouble[] {
  return troubles.filter(({ provider, health }) => {
    const known = outages.filter((outage) => outage.provider === provider);
    return health === "down" ? known.every(({ model }) => model !== "") : known.length === 0;
  });
}

/** Returns the start of a sentence about a provider's health. */
export function describeTrouble({ provider, health }: Pick<ProviderTrouble, "provider" | "health">): string {
  const subject = provider === "" ? texts.providerTitle : texts.providerProvider(provider);
  return health === "down" ? texts.down(subject) : texts.hasElevatedErrors(subject);
}

/** Returns the start of a sentence about an outage: provider and model. */
export function describeOutage(provider: string, model: string): string {
  const subject = provider === "" ? texts.providerTitle : texts.providerProvider(provider);
  return model === "" ? texts.down(subject) : texts.downFor(subject, model);
}
