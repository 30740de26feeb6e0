import { listOfferedModels, type ProviderView } from "../api/providers.ts";
import { readUsage, type UsageItem } from "../api/usage.ts";
import { formatShare } from "../ui/format.ts";

/** Limit of providers that are read. */
const MAX_PROVIDERS = 500;

/** Leaves out requests that were refused, for example by a limit of their key, before the gateway asked any provider. */
export const ASKED_REQUESTS = { outcome: "success,error,cancelled" } as const;

/** Usage by provider since `from` (Unix milliseconds). */
export async function readProviderUsage(from: number, signal?: AbortSignal): Promise<readonly UsageItem[]> {
  const query = {
    from,
    granularity: "total",
    groupBy: ["provider"],
    filters: ASKED_REQUESTS,
    limit: MAX_PROVIDERS,
  } as const;
  return (await readUsage(query, signal)).items;
}

type Attempts = Pick<UsageItem, "attempts" | "provider_errors">;

/** The share of a provider's attempts at which it failed, as a text. */
export const formatProviderErrors = ({ attempts, provider_errors }: Attempts): string =>
  formatShare(provider_errors, attempts);

/** The usage of a provider in usage by provider. */
export const findProviderUsage = (
  { id }: Pick<ProviderView, "id">,
  items: readonly UsageItem[],
): UsageItem | undefined => items.find(({ provider }) => provider === id);

/**
 * Finds a model with which a provider can be tested: the first enabled one, else the first that the provider offers. Empty:
 * the gateway's default model. Undefined: there is none.
 */
export async function findTestModel({ id, models, read_only }: ProviderView): Promise<string | undefined> {
  if (read_only) return "";
  const [listed] =
    Object.entries(models).find(([, model]) => typeof model === "string" || model.enabled !== false) ?? [];
  const name = listed ?? (await listOfferedModels(id)).models[0];
  return name === undefined ? undefined : `${id}/${name}`;
}
