import * as z from "zod";
import { keyIdentifier, listApiKeys } from "../../../core/config/api-keys.ts";
import { DEFAULT_PROVIDER } from "../../../core/config/provider-id.ts";
import type { Config } from "../../../core/config/schema.ts";
import { lazyObject } from "../../../core/encoding/lazy-schema.ts";
import { once } from "../../../core/encoding/once.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import {
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageGroup,
  type UsageReport,
} from "../../../core/ports/usage.ts";
import { adminEndpoint, type Endpoint } from "../../../core/routing/endpoint.ts";
import { DRIVER_ALIASES, DRIVER_NAMES } from "../../../gateway/providers/drivers.ts";
import { clampedSum, fromNano } from "../../../records/usage/prices.ts";
import { normalizeRange } from "../../../records/usage/time-range.ts";
import { listAccountNames } from "../account-identifiers.ts";
import { queryNumber } from "../paging.ts";
import { type DimensionNames, usageCsv } from "./usage-csv.ts";

const MAX_GROUPS = 10_000;
/** Maximum number of values per filter. */
const MAX_VALUES = 10;
const MAX_VALUE_CHARS = 500;

/** A time as Unix milliseconds, or in ISO 8601 (UTC unless it has an offset). */
const timeSchema = once(() =>
  z
    .string()
    .trim()
    .transform((text, context) => {
      const at = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
      if (Number.isSafeInteger(at) && at >= 0 && at < 8.64e15) return at;
      context.addIssue("a time is a number of milliseconds since 1970, or a date such as 2026-01-31");
      return z.NEVER;
    })
    .optional(),
);

/** Dimensions, separated by commas. */
const groupBySchema = once(() =>
  z
    .string()
    .default("")
    .transform((text, context) => {
      const names: UsageDimension[] = [];
      for (const dimension of text.split(",").map((part) => part.trim())) {
        const name = USAGE_DIMENSIONS.find((known) => known === dimension);
        if (name !== undefined && !names.includes(name)) names.push(name);
        if (name !== undefined || dimension === "") continue;
        context.addIssue(`group_by is any of ${USAGE_DIMENSIONS.join(", ")}, separated by commas`);
        return z.NEVER;
      }
      return names;
    }),
);

/** Filter of one dimension: values separated by commas. An empty value matches groups without a value. */
const filterSchema = once(() =>
  z
    .string()
    .max(MAX_VALUE_CHARS)
    .transform((text) => text.split(",").map((value) => value.trim()))
    .refine((values) => values.length <= MAX_VALUES, { error: `a filter may have ${MAX_VALUES} values` })
    .optional(),
);

/** Query of `GET /admin/usage`. */
const usageQuerySchema = lazyObject(() => ({
  from: timeSchema(),
  to: timeSchema(),
  granularity: z.enum(["hour", "day", "total"]).optional(),
  group_by: groupBySchema(),
  format: z.enum(["json", "csv"]).default("json"),
  limit: queryNumber(1_000, MAX_GROUPS),
  key: filterSchema(),
  requested_model: filterSchema(),
  model: filterSchema(),
  provider: filterSchema(),
  account: filterSchema(),
  dialect: filterSchema(),
  operation: filterSchema(),
  outcome: filterSchema(),
  team: filterSchema(),
  user: filterSchema(),
  tag: filterSchema(),
}));

type UsageQuery = z.output<typeof usageQuerySchema>;

const percentilesSchema = () => z.object({ p50: z.int(), p95: z.int(), p99: z.int() }).nullable();

const sumsSchema = () =>
  z.object({
    requests: z.int(),
    succeeded: z.int(),
    failed: z.int(),
    /** Part of `attempts`: the provider or one of its accounts failed. What a provider refuses as wrong is not in it. */
    provider_errors: z.int(),
    cancelled: z.int(),
    /** Requests that ended before an account was used. */
    refused: z.int(),
    /** Part of `succeeded`: answered from the response cache, without tokens and cost. */
    cache_hits: z.int(),
    prompt_tokens: z.int(),
    /** Part of `prompt_tokens`: read from the provider's cache. */
    cached_tokens: z.int(),
    /** Parts of `prompt_tokens`: written to the provider's cache for five minutes (or for an unknown time) and an hour. */
    cache_write_5m_tokens: z.int(),
    cache_write_1h_tokens: z.int(),
    /** Part of `prompt_tokens`. */
    audio_input_tokens: z.int(),
    completion_tokens: z.int(),
    /** Parts of `completion_tokens`. */
    reasoning_tokens: z.int(),
    audio_output_tokens: z.int(),
    /** Part of `prompt_tokens`. */
    image_input_tokens: z.int(),
    /** Part of `completion_tokens`. */
    image_output_tokens: z.int(),
    /** Seconds of audio, and searches for rankings, where the provider counts these. */
    audio_seconds: z.int(),
    search_units: z.int(),
    total_tokens: z.int(),
    /** Requests of the provider's own tools. */
    web_searches: z.int(),
    web_fetches: z.int(),
    /** In the unit of `prices`, at the prices of that time. */
    cost: z.number(),
    attempts: z.int(),
    /** Milliseconds, with an error of at most 5 %. */
    first_token_ms: percentilesSchema(),
    duration_ms: percentilesSchema(),
    queue_ms: percentilesSchema(),
  });

const text = () => z.string().optional();

const usageSchema = () =>
  z.object({
    from: z.int(),
    to: z.int(),
    granularity: z.enum(["hour", "day", "total"]),
    group_by: z.array(z.enum(USAGE_DIMENSIONS)),
    /** There are more groups than `limit`. `items` has the newest times and, within each time, the largest groups. */
    truncated: z.boolean(),
    items: z.array(
      sumsSchema().extend({
        /** Start of the hour, the day, or the whole range, in Unix milliseconds. */
        at: z.int(),
        key: text(),
        requested_model: text(),
        model: text(),
        provider: text(),
        account: text(),
        dialect: text(),
        operation: text(),
        outcome: text(),
        team: text(),
        user: text(),
        /** One of the tags of the requests. A request with several tags is in the group of each, but once in the totals. */
        tag: text(),
      }),
    ),
    totals: sumsSchema(),
  });

/** The sums of a group, with the names of the response. */
export type UsageSumsView = z.output<ReturnType<typeof sumsSchema>>;

function sumsView(group: UsageGroup): UsageSumsView {
  const { prompt_tokens, completion_tokens, times } = group;
  return {
    requests: group.requests,
    succeeded: group.succeeded,
    failed: group.failed,
    provider_errors: group.provider_errors,
    cancelled: group.cancelled,
    refused: group.refused,
    cache_hits: group.cache_hits,
    prompt_tokens: clampedSum(prompt_tokens),
    cached_tokens: clampedSum(group.cached_tokens),
    cache_write_5m_tokens: clampedSum(group.cache_write_5m_tokens),
    cache_write_1h_tokens: clampedSum(group.cache_write_1h_tokens),
    audio_input_tokens: clampedSum(group.audio_input_tokens),
    completion_tokens: clampedSum(completion_tokens),
    reasoning_tokens: clampedSum(group.reasoning_tokens),
    audio_output_tokens: clampedSum(group.audio_output_tokens),
    image_input_tokens: clampedSum(group.image_input_tokens),
    image_output_tokens: clampedSum(group.image_output_tokens),
    audio_seconds: clampedSum(group.audio_seconds),
    search_units: clampedSum(group.search_units),
    web_searches: clampedSum(group.web_searches),
    web_fetches: clampedSum(group.web_fetches),
    total_tokens: clampedSum(prompt_tokens, completion_tokens),
    cost: fromNano(group.cost_nano),
    attempts: group.attempts,
    first_token_ms: times.first_token,
    duration_ms: times.duration,
    queue_ms: times.queue,
  };
}

/** All names under which earlier versions stored the default provider, but for ids of configured providers. */
function listDefaultProviderNames({ providers }: Config): string[] {
  const ids = new Set(providers.map(({ id }) => id));
  return [...DRIVER_NAMES, ...DRIVER_ALIASES.keys()].filter((name) => !ids.has(name));
}

function toFilters(query: UsageQuery): Partial<Record<UsageDimension, readonly string[]>> {
  return Object.fromEntries(
    USAGE_DIMENSIONS.flatMap((name) => {
      const values = query[name];
      return values === undefined ? [] : [[name, values]];
    }),
  );
}

function toItems({ groups }: UsageReport) {
  return groups.map((group) => ({ at: group.at, ...group.dimensions, ...sumsView(group) }));
}

/** The names that keys, teams, users, providers and accounts have now, by id. */
async function readNames(config: Config): Promise<DimensionNames> {
  const toNames = (entries: readonly { readonly id: string; readonly name: string }[]) =>
    new Map(entries.map(({ id, name }) => [id, name]));
  const keys = listApiKeys(config).map(async (key) => ({ id: await keyIdentifier(key), name: key.name }));
  return {
    key: toNames(await Promise.all(keys)),
    team: toNames(config.teams),
    user: toNames(config.users),
    provider: toNames(config.providers),
    account: await listAccountNames(config),
  };
}

export const USAGE_ENDPOINTS = [
  /**
   * `GET /admin/usage`: usage by hour, by day or in total, grouped and filtered by any dimensions. Responds with JSON
   * including totals, or with CSV. Data is a few seconds old at most.
   */
  adminEndpoint({
    method: "GET",
    path: "/admin/usage",
    summary: "Usage by key, team, model, account and other dimensions",
    query: usageQuerySchema,
    answers: () => ({ "application/json": usageSchema(), "text/csv": { type: "string" } }),
    handler: async (context, { query }) => {
      const { platform } = context;
      const { from, to, granularity } = query;
      const range = normalizeRange(
        {
          ...(from === undefined ? {} : { from }),
          ...(to === undefined ? {} : { to }),
          ...(granularity === undefined ? {} : { granularity }),
        },
        platform.now(),
      );
      if (typeof range === "string") throw invalidRequest(range, "from");
      const { config } = await context.config();
      const defaultProviderNames = listDefaultProviderNames(config);
      const { providerDriver } = platform.variables;
      const filters = toFilters(query);
      // A CSV file cannot say that it is incomplete.
      const isWhole = query.format === "csv" && !context.url.searchParams.has("limit");
      // Earlier versions showed the default provider by its driver, so filters may still name that.
      if (filters.provider?.includes(providerDriver) && defaultProviderNames.includes(providerDriver))
        filters.provider = [...filters.provider, DEFAULT_PROVIDER];
      const request = {
        ...range,
        groupBy: query.group_by,
        filters,
        defaultProviderNames,
        limit: isWhole ? MAX_GROUPS : query.limit,
      };
      const answer = await platform.usage.read(request);
      if (isWhole && answer.truncated) {
        const advice = "choose a shorter range or fewer dimensions, or state a limit";
        throw invalidRequest(
          `a file has at most ${MAX_GROUPS} lines, and these are more: ${advice}`,
          "limit",
        );
      }
      const items = toItems(answer);
      if (query.format === "csv") {
        const names = await readNames(config);
        return new Response(usageCsv(items, query.group_by, names), {
          headers: {
            "content-type": "text/csv; charset=utf-8",
            "content-disposition": 'attachment; filename="usage.csv"',
            "cache-control": "no-store",
          },
        });
      }
      return Response.json({
        ...range,
        group_by: query.group_by,
        truncated: answer.truncated,
        items,
        totals: sumsView(answer.totals),
      });
    },
  }),
] satisfies readonly Endpoint[];
