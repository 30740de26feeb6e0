import { MAX_CACHE_SECONDS, PROVIDER_BOUNDS } from "../../../../core/config/schemas/provider-bounds.ts";
import type { ProviderFields, ProviderView } from "../../api/providers.ts";
import { type LimitDraft, parseLimits, toLimitDraft } from "../../shared/limit-draft.ts";
import { formatDriver } from "../../ui/api-styles.ts";
import { type Faults, InvalidInput } from "../../ui/forms/form-errors.ts";
import { texts } from "./texts.ts";

/** Input values of the provider form: numbers and lists are texts, times are in seconds. */
export interface ProviderDraft {
  readonly id: string;
  readonly name: string;
  readonly driver: string;
  readonly base_url: string;
  readonly token: string;
  readonly tool_calls: string;
  readonly whole_answers: boolean;
  readonly native: boolean;
  readonly pipe_streams: boolean;
  readonly trace_context: boolean;
  /** `on` or `off`; empty: as the driver does by default. */
  readonly active_probes: string;
  /** Seconds; empty: as the settings say; 0: no cache. */
  readonly cache: string;
  readonly limits: LimitDraft;
  /** Names separated by commas, spaces or lines. */
  readonly drop_params: string;
  readonly proxy_id: string;
  readonly api_version: string;
  readonly key_header: string;
  /** One header per line: `Name: value`. */
  readonly headers: string;
  readonly account_max_inflight: string;
  /** One of {@link CONCURRENCIES}; empty: as the gateway chooses for a new provider. */
  readonly max_concurrent: string;
  /** Empty: as the driver does by default. */
  readonly strategy: string;
  /** Seconds. */
  readonly affinity_wait_ms: string;
  readonly first_byte_timeout_ms: string;
  readonly answer_timeout_ms: string;
  readonly idle_timeout_ms: string;
  /** Hours; empty: never. */
  readonly models_refresh_hours: string;
  readonly new_models: string;
  readonly enabled: boolean;
}

/** Path of the response cache's duration in the configuration. */
export const CACHE_PATH = "cache.ttl_seconds";

/** Protocols of providers: the gateway's name and the label. */
export const DRIVERS = [
  ["openai", texts.openaiDriver],
  ["openai-responses", formatDriver("openai-responses")],
  ["anthropic", formatDriver("anthropic")],
  ["gemini", formatDriver("gemini")],
  ["sessions", texts.sessionsDriver],
] as const;

/** Which services have a protocol, by the gateway's name of it. */
export const DRIVER_HINTS: Readonly<Record<string, string>> = {
  openai: texts.openaiHint,
  "openai-responses": texts.openaiResponsesHint,
  anthropic: texts.anthropicHint,
  gemini: texts.geminiHint,
  sessions: texts.sessionsHint,
} satisfies Record<(typeof DRIVERS)[number][0], string>;

/** How the account of a request is chosen: the gateway's name and the label. */
export const STRATEGIES = [
  ["affinity", texts.sessionAffinity],
  ["round_robin", texts.roundRobin],
  ["least_busy", texts.fewestRequests],
  ["fill_first", texts.fillFirst],
] as const;

/** Whether the accounts have a limit of concurrent requests: the value and the label. */
export const CONCURRENCIES = [
  ["unlimited", texts.unlimited],
  ["limited", texts.limited],
] as const;

const TIMES = ["first_byte_timeout_ms", "answer_timeout_ms", "idle_timeout_ms"] as const;
const MAX_SLOTS = PROVIDER_BOUNDS.accountSlots;
const MAX_HOURS = PROVIDER_BOUNDS.modelsRefreshHours;
/** Seconds. */
const MAX_TIMEOUT = Math.floor(PROVIDER_BOUNDS.timeoutMs / 1_000);
const MAX_WAIT = PROVIDER_BOUNDS.affinityWaitMs / 1_000;

const lines = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** Splits a line at the first separator and trims both parts. The second part is undefined if there is no separator. */
function splitOnce(line: string, separator: string): readonly [string, string | undefined] {
  const index = line.indexOf(separator);
  return index === -1
    ? [line, undefined]
    : [line.slice(0, index).trim(), line.slice(index + separator.length).trim()];
}

function parseHeaders(text: string): Record<string, string> {
  return Object.fromEntries(
    lines(text).map((line) => {
      const [name, value = ""] = splitOnce(line, ":");
      return [name, value];
    }),
  );
}

const formatNonZero = (value: number) => (value === 0 ? "" : String(value));

/** Returns the input values for a provider; null: a new provider. */
export function toProviderDraft(provider: ProviderView | null): ProviderDraft {
  const headers = Object.entries(provider?.headers ?? {});
  return {
    id: provider?.id ?? "",
    name: provider?.name ?? "",
    driver: provider?.driver ?? "openai",
    base_url: provider?.base_url ?? "",
    token: "",
    tool_calls: provider?.tool_calls ?? "native",
    whole_answers: provider?.whole_answers ?? true,
    native: provider?.native ?? true,
    pipe_streams: provider?.pipe_streams ?? false,
    trace_context: provider?.trace_context ?? false,
    active_probes: provider === null ? "" : provider.active_probes ? "on" : "off",
    cache: String(provider?.cache.ttl_seconds ?? ""),
    limits: toLimitDraft(provider === null ? null : { limits: provider.limits }),
    drop_params: (provider?.drop_params ?? []).join(", "),
    proxy_id: provider?.proxy_id ?? "",
    api_version: provider?.api_version ?? "",
    key_header: provider?.key_header ?? "",
    headers: headers.map(([name, value]) => `${name}: ${value}`).join("\n"),
    account_max_inflight: formatNonZero(provider?.account_max_inflight ?? 0),
    max_concurrent: provider === null ? "" : provider.max_concurrent === 0 ? "unlimited" : "limited",
    strategy: provider?.strategy ?? "",
    affinity_wait_ms: String((provider?.affinity_wait_ms ?? 500) / 1_000),
    first_byte_timeout_ms: formatNonZero((provider?.first_byte_timeout_ms ?? 0) / 1_000),
    answer_timeout_ms: formatNonZero((provider?.answer_timeout_ms ?? 0) / 1_000),
    idle_timeout_ms: formatNonZero((provider?.idle_timeout_ms ?? 0) / 1_000),
    models_refresh_hours: formatNonZero(provider?.models_refresh_hours ?? 0),
    new_models: provider?.new_models ?? "on",
    enabled: provider?.enabled ?? true,
  };
}

function findCacheFault(text: string): Faults {
  const seconds = Number(text);
  const isValid = Number.isInteger(seconds) && seconds >= 0 && seconds <= MAX_CACHE_SECONDS;
  return isValid ? {} : { [CACHE_PATH]: texts.wholeNumberUpTo(MAX_CACHE_SECONDS) };
}

function findLimitFaults(draft: LimitDraft): Faults {
  try {
    parseLimits(draft);
    return {};
  } catch (error) {
    if (error instanceof InvalidInput) return error.faults;
    throw error;
  }
}

/** Validates the input values. Returns the errors by the fields' paths. The gateway checks the rest. */
export function validateProviderDraft(draft: ProviderDraft): Faults {
  const faults: Partial<Record<keyof ProviderDraft, string>> = {};
  if (draft.id.trim() === "") faults.id = texts.enterId;
  if (draft.base_url.trim() === "") faults.base_url = texts.enterAddress;
  const slots = Number(draft.account_max_inflight);
  if (!(Number.isInteger(slots) && slots >= 0 && slots <= MAX_SLOTS)) {
    faults.account_max_inflight = texts.wholeNumberUpTo(MAX_SLOTS);
  }
  const waitSeconds = Number(draft.affinity_wait_ms);
  if (!(waitSeconds >= 0 && waitSeconds <= MAX_WAIT)) faults.affinity_wait_ms = texts.numberUpTo(MAX_WAIT);
  const hours = Number(draft.models_refresh_hours);
  if (!(hours >= 0 && hours <= MAX_HOURS)) {
    faults.models_refresh_hours = texts.numberUpTo(MAX_HOURS);
  }
  for (const time of TIMES) {
    const seconds = Number(draft[time]);
    if (!(seconds >= 0 && seconds <= MAX_TIMEOUT)) faults[time] = texts.numberUpTo(MAX_TIMEOUT);
  }
  for (const line of lines(draft.headers)) {
    const [name, value] = splitOnce(line, ":");
    if (name === "" || value === undefined) faults.headers ??= texts.invalidHeaderLine(line);
  }
  return { ...faults, ...findCacheFault(draft.cache), ...findLimitFaults(draft.limits) };
}

/** Converts valid input values to the request. */
export function toProviderFields(
  draft: ProviderDraft,
): ProviderFields & { readonly driver: string; readonly base_url: string } {
  const { driver, tool_calls, whole_answers, native, proxy_id, new_models, enabled } = draft;
  const [strategy] = STRATEGIES.find(([name]) => name === draft.strategy) ?? [];
  const milliseconds = (seconds: string) => Math.round(Number(seconds) * 1_000);
  return {
    name: draft.name.trim(),
    driver,
    base_url: draft.base_url.trim(),
    token: draft.token.trim(),
    tool_calls: tool_calls === "markup" ? "markup" : "native",
    whole_answers,
    native,
    pipe_streams: draft.pipe_streams,
    trace_context: draft.trace_context,
    ...(draft.active_probes === "" ? {} : { active_probes: draft.active_probes === "on" }),
    cache: draft.cache.trim() === "" ? {} : { ttl_seconds: Number(draft.cache) },
    limits: parseLimits(draft.limits),
    drop_params: draft.drop_params.split(/[\s,]/).filter((name) => name !== ""),
    proxy_id,
    api_version: draft.api_version.trim(),
    key_header: draft.key_header.trim(),
    headers: parseHeaders(draft.headers),
    account_max_inflight: Number(draft.account_max_inflight),
    ...(draft.max_concurrent === ""
      ? {}
      : { max_concurrent: draft.max_concurrent === "unlimited" ? 0 : null }),
    ...(strategy === undefined ? {} : { strategy }),
    affinity_wait_ms: milliseconds(draft.affinity_wait_ms),
    first_byte_timeout_ms: milliseconds(draft.first_byte_timeout_ms),
    answer_timeout_ms: milliseconds(draft.answer_timeout_ms),
    idle_timeout_ms: milliseconds(draft.idle_timeout_ms),
    models_refresh_hours: Number(draft.models_refresh_hours),
    new_models: new_models === "off" ? "off" : "on",
    enabled,
  };
}

/** Returns only the changed fields, so that concurrent changes by other administrators stay. */
export function changedProviderFields(draft: ProviderDraft, provider: ProviderView): ProviderFields {
  const saved = new Map(Object.entries(toProviderFields(toProviderDraft(provider))));
  const changed = Object.entries(toProviderFields(draft)).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(saved.get(field)),
  );
  return Object.fromEntries(changed);
}
