import { findListedModel } from "../../core/config/provider-models.ts";
import type { Config, Price } from "../../core/config/schema.ts";
import type { RequestFacts } from "../../core/ports/request-outcome.ts";
import { NANO } from "../../core/units.ts";

/** The number of tokens that a price is for. */
const TOKENS_PER_PRICE = 1e6;
/** Limit of one request's cost, whatever prices an administrator sets: it keeps sums finite. */
const MAX_COST_NANO = 1e40;

/** Suffix of the model variant without thinking. */
const NO_THINKING = "-nothinking";

/** Configured prices by model. */
export type Prices = Readonly<Record<string, Price>>;

/** Tokens to price. All but `completion` are parts of `prompt`. */
export interface PricedTokens {
  readonly prompt: number;
  readonly completion: number;
  /** Read from the provider's cache, and written to it for five minutes and for an hour. */
  readonly cacheRead: number;
  readonly cacheWrite5m: number;
  readonly cacheWrite1h: number;
}

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

/** The price of a model from `prices`, else from its provider's `models`; null if there is none. */
export function findModelPrice(
  { prices, providers }: Pricing,
  model: string,
  requested = model,
): Price | null {
  const price = findPrice(prices, model, requested);
  if (price !== null || providers.length === 0) return price;
  const slash = model.indexOf("/");
  const id = model.slice(0, Math.max(0, slash));
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
 * Cost of tokens in whole billionths of the price unit; 0 without a price. Above 2^53 it is rounded to the nearest double,
 * exact to 15 digits.
 */
export function computeCostNano(price: Price | null, tokens: PricedTokens): number {
  if (price === null) return 0;
  const { prompt, completion, cacheRead, cacheWrite5m, cacheWrite1h } = tokens;
  const { input, output, cached_input: cachedInput = input, cache_read: readPrice = cachedInput } = price;
  const { cache_write_5m: writePrice = input, cache_write_1h: longWritePrice = writePrice } = price;
  const uncached = Math.max(0, prompt - cacheRead - cacheWrite5m - cacheWrite1h);
  const written = cacheWrite5m * writePrice + cacheWrite1h * longWritePrice;
  const sum = uncached * input + cacheRead * readPrice + written + completion * output;
  return Math.min(Math.round((sum / TOKENS_PER_PRICE) * NANO), MAX_COST_NANO);
}

/** The fields of a request that decide on its cost. */
export type CostFields = Pick<
  RequestFacts,
  | "model"
  | "requestedModel"
  | "promptTokens"
  | "completionTokens"
  | "cachedTokens"
  | "cacheWrite5mTokens"
  | "cacheWrite1hTokens"
>;

/** The cost of a request in billionths of the price unit; null if its model has no price. */
export function findRequestCost(pricing: Pricing, fields: CostFields): number | null {
  const { model = "", requestedModel, promptTokens: prompt = 0, completionTokens: completion = 0 } = fields;
  const { cachedTokens: cacheRead = 0, cacheWrite5mTokens: cacheWrite5m = 0 } = fields;
  const { cacheWrite1hTokens: cacheWrite1h = 0 } = fields;
  const price = findModelPrice(pricing, model, requestedModel);
  if (price === null) return null;
  return computeCostNano(price, { prompt, completion, cacheRead, cacheWrite5m, cacheWrite1h });
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
