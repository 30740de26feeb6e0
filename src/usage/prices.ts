import type { Price } from "../config/schema.ts";

/** Billionths in one, and tokens that prices are given for. */
const NANO = 1e9;
const PER = 1e6;

/** The prices that a configuration has, by model. */
export type Prices = Readonly<Record<string, Price>>;

/** Tokens that cost something. `cached` is part of `prompt`. */
export interface PricedTokens {
  readonly prompt: number;
  readonly cached: number;
  readonly completion: number;
}

/** The price of a model: of the one that was used, else of the name that was asked for; null: none is known. */
export function priceOf(prices: Prices, model: string, requested = model): Price | null {
  if (Object.hasOwn(prices, model)) return prices[model] ?? null;
  return Object.hasOwn(prices, requested) ? (prices[requested] ?? null) : null;
}

/** What tokens cost in whole billionths of the prices' unit; 0 without a price. */
export function costNano(price: Price | null, { prompt, cached, completion }: PricedTokens): number {
  if (price === null) return 0;
  const { input, cached_input: cachedInput = input, output } = price;
  const fresh = Math.max(0, prompt - cached);
  return Math.round(((fresh * input + cached * cachedInput + completion * output) / PER) * NANO);
}

/** Billionths as a number of the prices' unit. */
export function costOf(nano: number): number {
  return nano / NANO;
}
