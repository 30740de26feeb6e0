import type { CacheConfig, CacheScope } from "../../core/config/schemas/response-cache-schema.ts";
import type { ResolvedModel } from "../../core/conversation/model.ts";

/**
 * For how many seconds the answers of a model are served again to a key; 0: not at all. The narrowest setting counts:
 * that of the key, else of the model, else of the provider, else of all requests. If a model leads to several
 * providers, the shortest of their times counts.
 */
export function selectCacheSeconds(
  { cache, providers, default_provider }: CacheConfig,
  key: CacheScope | undefined,
  model: Pick<ResolvedModel, "id" | "requested" | "provider" | "route">,
): number {
  const ofModel = [model.requested, model.id].map((name) =>
    Object.hasOwn(cache.models, name) ? cache.models[name]?.ttl_seconds : undefined,
  );
  const narrow = [key?.cache?.ttl_seconds, ...ofModel].find((setting) => setting !== undefined);
  if (narrow !== undefined) return narrow;
  const findProvider = (provider: string | undefined) =>
    provider === undefined ? default_provider : providers.find(({ id }) => id === provider);
  const targets = model.route?.map((target) => target.model) ?? [model];
  return Math.min(
    ...targets.map(({ provider }) => findProvider(provider)?.cache?.ttl_seconds ?? cache.ttl_seconds),
  );
}
