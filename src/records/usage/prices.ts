import { DEFAULT_PROVIDER } from "../../core/config/provider-id.ts";
import { findListedModel } from "../../core/config/provider-models.ts";
import type { Config } from "../../core/config/schema.ts";
import type { Price } from "../../core/config/schemas/price-schema.ts";
import { NANO } from "../../core/units.ts";
import type { PricedUsage } from "./priced-usage.ts";

/** The number of tokens that a price is for. */
const TOKENS_PER_PRICE = 1e6;
/** The number of searches, and of seconds, that a price is for. */
const UNITS_PER_PRICE = 1_000;
const SECONDS_PER_PRICE = 3_600;
/** Limit of one request's cost, whatever prices an administrator sets: it keeps sums finite. */
const MAX_COST_NANO = 1e40;

/** Suffix of the model variant without thinking. */
const NO_THINKING = "-nothinking";

/** Configured prices by model. */
export type Prices = Readonly<Record<string, Price>>;

/**
 * The price of the used model, else of the requested name; null if there is none. Names match as for models: in any case. A
 * thinking and a non-thinking variant share a price if only one of them has one.
 */
export function findPrice(prices: Prices, model: string, requested = model): Price | null {
  if (Object.hasOwn(prices, model)) return prices[model] ?? null;
  if (Object.hasOwn(prices, requested)) return prices[requested] ?? null;
  const names = Object.keys(prices);
  if (names.length === 0) return null;
  for (const normalize of [lower, baseName]) {
    for (const normalized of [normalize(model), normalize(requested)]) {
      const name = names.find((candidate) => normalize(candidate) === normalized);
      if (name !== undefined) return prices[name] ?? null;
    }
  }
  return null;
}

/** The parts of the configuration that contain prices. */
export type Pricing = Pick<Config, "prices" | "providers">;

/**
 * The price of a model from `prices`, else from its provider's `models`; null if there is none. A model of the default
 * provider has the same price with that provider's id before its name.
 */
export function findModelPrice(
  { prices, providers }: Pricing,
  model: string,
  requested = model,
): Price | null {
  const price = findPrice(prices, model, requested);
  if (price !== null) return price;
  const slash = model.indexOf("/");
  const id = model.slice(0, Math.max(0, slash));
  if (id === DEFAULT_PROVIDER) return findPrice(prices, model.slice(slash + 1));
  const provider = providers.find((entry) => entry.id === id);
  if (provider === undefined) return null;
  const name = model.slice(slash + 1);
  const known = findListedModel(provider, name).model ?? findListedModel(provider, baseName(name)).model;
  return known?.price ?? null;
}

const lower = (name: string): string => name.toLowerCase();

function baseName(name: string): string {
  const lowerName = lower(name);
  return lowerName.endsWith(NO_THINKING) ? lowerName.slice(0, -NO_THINKING.length) : lowerName;
}

/**
 * Cost of a usage in whole billionths of the price unit; 0 without a price. Above 2^53 it is rounded to the nearest double,
 * exact to 15 digits.
 */
export function computeCostNano(price: Price | null, usage: PricedUsage): number {
  if (price === null) return 0;
  const tokens = computePromptCost(price, usage) + computeAnswerCost(price, usage);
  const { webSearches = 0, searchUnits = 0, audioSeconds = 0 } = usage;
  const {
    web_searches_1k: webSearch = 0,
    search_units_1k: searchUnit = 0,
    audio_hour: audioHour = 0,
  } = price;
  const counted =
    (webSearches * webSearch + searchUnits * searchUnit) / UNITS_PER_PRICE +
    (audioSeconds * audioHour) / SECONDS_PER_PRICE;
  return Math.min(Math.round((tokens / TOKENS_PER_PRICE + counted) * NANO), MAX_COST_NANO);
}

/** The cost of a prompt, for a million. Sound and images that the cache had, or took, cost what the cache costs. */
function computePromptCost(price: Price, usage: PricedUsage): number {
  const { promptTokens = 0, cachedTokens = 0, cacheWrite5mTokens = 0, cacheWrite1hTokens = 0 } = usage;
  const { input, cached_input: cachedInput = input, cache_read: readPrice = cachedInput } = price;
  const { cache_write_5m: writePrice = input, cache_write_1h: longWritePrice = writePrice } = price;
  const { audio_input: audioPrice = input, image_input: imagePrice = input } = price;
  const uncached = Math.max(0, promptTokens - cachedTokens - cacheWrite5mTokens - cacheWrite1hTokens);
  const audio = Math.min(uncached, usage.audioInputTokens ?? 0);
  const images = Math.min(uncached - audio, usage.imageInputTokens ?? 0);
  const written = cacheWrite5mTokens * writePrice + cacheWrite1hTokens * longWritePrice;
  const media = audio * audioPrice + images * imagePrice;
  return (uncached - audio - images) * input + cachedTokens * readPrice + written + media;
}

/** The cost of an answer, for a million. */
function computeAnswerCost(price: Price, usage: PricedUsage): number {
  const { completionTokens = 0, audioOutputTokens = 0, imageOutputTokens = 0, reasoningTokens = 0 } = usage;
  const { output, audio_output: audioPrice = output, image_output: imagePrice = output } = price;
  const audio = Math.min(completionTokens, audioOutputTokens);
  const images = Math.min(completionTokens - audio, imageOutputTokens);
  const reasoning = Math.min(completionTokens - audio - images, reasoningTokens);
  const media = audio * audioPrice + images * imagePrice + reasoning * (price.reasoning ?? output);
  return (completionTokens - audio - images - reasoning) * output + media;
}

/** The fields of a request that decide on its cost. */
export interface CostFields extends PricedUsage {
  readonly model?: string;
  readonly requestedModel?: string;
  readonly hasUncountedAnswer?: boolean;
}

/** The cost of a request in billionths of the price unit; null if its model has no price. */
export function findRequestCost(pricing: Pricing, fields: CostFields): number | null {
  const price = findModelPrice(pricing, fields.model ?? "", fields.requestedModel);
  return price === null ? null : computeCostNano(price, fields);
}

/**
 * What the cost of a request with a price leaves out, because the price has no such member or
 * the provider does not count it.
 */
export type UnpricedPart = "audio_seconds" | "search_units" | "web_searches" | "answer";

/** Lists what a request's cost leaves out. Empty without any price: then there is no cost. */
export function listUnpricedParts(pricing: Pricing, fields: CostFields): UnpricedPart[] {
  const price = findModelPrice(pricing, fields.model ?? "", fields.requestedModel);
  if (price === null) return [];
  const { audioSeconds = 0, searchUnits = 0, webSearches = 0, hasUncountedAnswer = false } = fields;
  const parts: UnpricedPart[] = [];
  if (audioSeconds > 0 && price.audio_hour === undefined) parts.push("audio_seconds");
  if (searchUnits > 0 && price.search_units_1k === undefined) parts.push("search_units");
  if (webSearches > 0 && price.web_searches_1k === undefined) parts.push("web_searches");
  if (hasUncountedAnswer) parts.push("answer");
  return parts;
}

/** Converts billionths to the price unit. */
export function fromNano(nano: number): number {
  return nano / NANO;
}

/** The sum of counts for a JSON response, limited to the integers that all JSON readers can represent. */
export function clampedSum(...counts: readonly number[]): number {
  return Math.min(
    counts.reduce((sum, count) => sum + count, 0),
    Number.MAX_SAFE_INTEGER,
  );
}
