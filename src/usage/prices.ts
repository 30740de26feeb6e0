import { listedModel } from "../config/provider-models.ts";
import type { Config, Price } from "../config/schema.ts";

/** Billionths in one, and tokens that prices are given for. */
const NANO = 1e9;
const PER = 1e6;
/** No request costs more, whatever price an administrator states: sums stay finite. */
const MOST_NANO = 1e40;

/** What ends the name of a model that is asked not to think. */
const NO_THINKING = "-nothinking";

/** The prices that a configuration has, by model. */
export type Prices = Readonly<Record<string, Price>>;

/** Tokens that cost something. `cached` is part of `prompt`. */
export interface PricedTokens {
  readonly prompt: number;
  readonly cached: number;
  readonly completion: number;
}

/**
 * The price of a model: of the one that was used, else of the name that was asked for; null: none is known. Names are found as
 * models are: in any case, and what thinks has the price of what does not where that has none of its own, and the other way round.
 */
export function priceOf(prices: Prices, model: string, requested = model): Price | null {
  if (Object.hasOwn(prices, model)) return prices[model] ?? null;
  if (Object.hasOwn(prices, requested)) return prices[requested] ?? null;
  const names = Object.keys(prices);
  if (names.length === 0) return null;
  for (const alike of [lower, base]) {
    for (const wanted of [alike(model), alike(requested)]) {
      const name = names.find((priced) => alike(priced) === wanted);
      if (name !== undefined) return prices[name] ?? null;
    }
  }
  return null;
}

/** What of a configuration says what models cost. */
export type Pricing = Pick<Config, "prices" | "providers">;

/** The price of a model, by `prices` or else by what its provider's `models` say; null: none is known. */
export function modelPrice({ prices, providers }: Pricing, model: string, requested = model): Price | null {
  const price = priceOf(prices, model, requested);
  if (price !== null || providers.length === 0) return price;
  const slash = model.indexOf("/");
  const id = model.slice(0, Math.max(0, slash));
  const provider = providers.find((entry) => entry.id === id);
  if (provider === undefined) return null;
  const name = model.slice(slash + 1);
  const known = listedModel(provider, name).model ?? listedModel(provider, base(name)).model;
  return known?.price ?? null;
}

const lower = (name: string): string => name.toLowerCase();

function base(name: string): string {
  const small = lower(name);
  return small.endsWith(NO_THINKING) ? small.slice(0, -NO_THINKING.length) : small;
}

/**
 * What tokens cost in whole billionths of the prices' unit; 0 without a price. Beyond 2^53 it is the nearest number that a
 * double holds, which is exact to 15 digits.
 */
export function costNano(price: Price | null, { prompt, cached, completion }: PricedTokens): number {
  if (price === null) return 0;
  const { input, cached_input: cachedInput = input, output } = price;
  const fresh = Math.max(0, prompt - cached);
  const cost = Math.round(((fresh * input + cached * cachedInput + completion * output) / PER) * NANO);
  return Math.min(cost, MOST_NANO);
}

/** Billionths as a number of the prices' unit. */
export function costOf(nano: number): number {
  return nano / NANO;
}

/** The sum of counts as an answer states it: no larger than the integers that every reader of JSON takes. */
export function statedSum(...counts: readonly number[]): number {
  return Math.min(
    counts.reduce((sum, count) => sum + count, 0),
    Number.MAX_SAFE_INTEGER,
  );
}
