import * as z from "zod";
import { lazyObject } from "../../encoding/lazy-schema.ts";
import { once, oncePer } from "../../encoding/once.ts";
import { MAX_CACHE_SECONDS } from "./provider-bounds.ts";

const seconds = once(() => z.number().int().min(0).max(MAX_CACHE_SECONDS));

/**
 * The response cache of a key, a provider or a model: how long an answer is served again, in seconds. 0: never. Absent: the
 * next wider setting applies.
 */
export const cacheSettingSchema = lazyObject(() => ({ ttl_seconds: seconds().optional() }));

/** The response cache of all requests, and of models, as used or as requested. */
export const responseCacheSchema = lazyObject(() => ({
  ttl_seconds: seconds().default(0),
  models: z.record(z.string(), cacheSettingSchema).default({}),
  /** Answers may have been cached at some time. The gateway sets it, and never removes it. */
  was_on: z.boolean().optional(),
}));

type CacheSetting = z.output<typeof cacheSettingSchema>;

/** Something that may have a setting of its own. */
export interface CacheScope {
  readonly cache?: CacheSetting | undefined;
}

/** The part of the configuration that decides on the response cache. */
export interface CacheConfig {
  readonly cache: z.output<typeof responseCacheSchema>;
  readonly api_keys: readonly CacheScope[];
  readonly providers: readonly (CacheScope & { readonly id: string })[];
  readonly default_provider: CacheScope;
}

/** Whether any request can be answered from the response cache. */
export const usesResponseCache = oncePer(
  ({ cache, api_keys, providers, default_provider }: CacheConfig): boolean => {
    const settings = [
      cache,
      ...Object.values(cache.models),
      ...[...api_keys, ...providers, default_provider].map((scope) => scope.cache),
    ];
    return settings.some((setting) => (setting?.ttl_seconds ?? 0) > 0);
  },
);
