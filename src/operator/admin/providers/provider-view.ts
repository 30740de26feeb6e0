import * as z from "zod";
import { isShortenedSecret, maskText, shortenSecret } from "../../../core/config/marked-secrets.ts";
import { DEFAULT_PROVIDER, toProviderId } from "../../../core/config/provider-id.ts";
import type { Config } from "../../../core/config/schema.ts";
import { type ProviderEntry, providerSchema } from "../../../core/config/schemas/provider-schema.ts";
import { SELECTION_STRATEGIES } from "../../../core/config/selection-strategy.ts";
import type { Platform } from "../../../core/ports/platform.ts";
import { needsNoAccount, probesActively, selectStrategy } from "../../../gateway/providers/drivers.ts";
import { cacheViewSchema } from "../keys/subject-fields.ts";
import { countUnpricedProviderModels } from "../models/unpriced-models.ts";

/** A provider as administrators see it. Its token and the values of its headers are masked. */
export const providerViewSchema = () =>
  z.object({
    id: z.string(),
    name: z.string(),
    driver: z.string(),
    base_url: z.string(),
    has_token: z.boolean(),
    token_preview: z.string(),
    models: providerSchema.shape.models.unwrap(),
    tool_calls: z.enum(["native", "markup"]),
    whole_answers: z.boolean(),
    native: z.boolean(),
    drop_params: z.array(z.string()),
    proxy_id: z.string(),
    api_version: z.string(),
    key_header: z.string(),
    trace_context: z.boolean(),
    pipe_streams: z.boolean(),
    active_probes: z.boolean(),
    headers: z.record(z.string(), z.string()),
    account_max_inflight: z.int(),
    /** Limits of all requests of the gateway's keys to it; empty: none. */
    limits: z.looseObject({}),
    /** Its models without a price, if it has a budget of cost: their cost is not counted. */
    unpriced_models: z.int(),
    cache: cacheViewSchema(),
    /** 0: no limit. Null: there is one. */
    max_concurrent: z.literal(0).nullable(),
    strategy: z.enum(SELECTION_STRATEGIES),
    affinity_wait_ms: z.int(),
    first_byte_timeout_ms: z.int(),
    answer_timeout_ms: z.int(),
    idle_timeout_ms: z.int(),
    models_refresh_hours: z.number(),
    new_models: z.enum(["on", "off"]),
    enabled: z.boolean(),
    /** Number of its accounts. */
    accounts: z.int(),
    /** Whether it answers no request without an account: its accounts sign in. */
    needs_account: z.boolean(),
    /** The provider comes from the deployment's environment variables. */
    read_only: z.boolean(),
  });
export type ProviderView = z.output<ReturnType<typeof providerViewSchema>>;

/** Masks the value of a header. */
const maskHeader = (value: string): string => maskText(providerSchema.shape.headers, value);

function countAccounts(config: Config, id: string): number {
  return config.accounts.filter(({ provider }) => toProviderId(provider) === id).length;
}

/** The masked view of a configured provider. */
export function providerView(config: Config, entry: ProviderEntry): ProviderView {
  const { id, name, driver, base_url, token, models, tool_calls, whole_answers, native, proxy_id, enabled } =
    entry;
  return {
    id,
    name,
    driver,
    base_url,
    has_token: token !== "",
    token_preview: maskText(providerSchema.shape.token, token),
    models,
    tool_calls,
    whole_answers,
    native,
    drop_params: entry.drop_params,
    proxy_id,
    api_version: entry.api_version,
    key_header: entry.key_header,
    trace_context: entry.trace_context === true,
    pipe_streams: entry.pipe_streams === true,
    active_probes: probesActively(driver, entry.active_probes),
    headers: Object.fromEntries(
      Object.entries(entry.headers).map(([field, value]) => [field, maskHeader(value)]),
    ),
    account_max_inflight: entry.account_max_inflight,
    limits: entry.limits ?? {},
    unpriced_models: countUnpricedProviderModels(config, entry, id),
    cache: entry.cache ?? {},
    max_concurrent: entry.max_concurrent ?? null,
    strategy: selectStrategy(driver, entry.strategy),
    affinity_wait_ms: entry.affinity_wait_ms,
    first_byte_timeout_ms: entry.first_byte_timeout_ms,
    answer_timeout_ms: entry.answer_timeout_ms,
    idle_timeout_ms: entry.idle_timeout_ms,
    models_refresh_hours: entry.models_refresh_hours,
    new_models: entry.new_models,
    enabled,
    accounts: countAccounts(config, id),
    needs_account: !needsNoAccount(driver),
    read_only: false,
  };
}

/** The view of the default provider; null if the deployment has none. */
export function defaultProviderView(
  { variables, providerBaseUrl }: Platform,
  config: Config,
): ProviderView | null {
  if (providerBaseUrl === null) return null;
  return {
    id: DEFAULT_PROVIDER,
    name: "",
    driver: variables.providerDriver,
    base_url: removeUrlSecrets(providerBaseUrl),
    has_token: variables.providerToken !== "none",
    token_preview: variables.providerToken === "none" ? "" : shortenSecret(variables.providerToken),
    models: { ...variables.providerModels },
    tool_calls: variables.providerToolCalls,
    whole_answers: variables.providerWholeAnswers,
    native: variables.providerNative,
    drop_params: [...variables.providerDropParams],
    proxy_id: "",
    api_version: "",
    key_header: "",
    trace_context: variables.providerTraceContext,
    pipe_streams: variables.providerPipeStreams,
    active_probes: probesActively(variables.providerDriver),
    headers: {},
    account_max_inflight: 0,
    limits: config.default_provider.limits,
    unpriced_models: countUnpricedProviderModels(config, config.default_provider, undefined),
    cache: config.default_provider.cache,
    max_concurrent: null,
    strategy: selectStrategy(variables.providerDriver, variables.providerStrategy ?? undefined),
    affinity_wait_ms: variables.providerAffinityWaitMs,
    first_byte_timeout_ms: variables.firstByteTimeoutMs,
    answer_timeout_ms: variables.answerTimeoutMs,
    idle_timeout_ms: variables.idleTimeoutMs,
    models_refresh_hours: 0,
    new_models: "on",
    enabled: true,
    accounts: countAccounts(config, DEFAULT_PROVIDER),
    needs_account: !needsNoAccount(variables.providerDriver),
    read_only: true,
  };
}

/** Removes credentials and query from a URL. An environment variable may contain a password or keys there. */
function removeUrlSecrets(address: string): string {
  const url = URL.parse(address);
  if (url === null || url.username + url.password + url.search === "") return address;
  return url.origin + url.pathname;
}

/** Returns the sent headers. A value that equals the masked one keeps the stored value. */
export function mergeHeaders(
  sent: ProviderEntry["headers"],
  present: ProviderEntry["headers"],
): ProviderEntry["headers"] {
  return Object.fromEntries(
    Object.entries(sent).map(([field, value]) => {
      const stored = Object.hasOwn(present, field) ? present[field] : undefined;
      return [
        field,
        stored !== undefined && isShortenedSecret(value) && value === maskHeader(stored) ? stored : value,
      ];
    }),
  );
}
