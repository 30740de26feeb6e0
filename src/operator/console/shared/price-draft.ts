import type { Price } from "../api/settings.ts";
import type { Faults } from "../ui/forms/form-errors.ts";
import { texts } from "./texts.ts";

/** A member of a price, for the form. */
interface PriceField {
  readonly name: keyof Price;
  readonly label: string;
  readonly hint?: string;
}

/** The members that every price has. */
export const TOKEN_PRICES: readonly PriceField[] = [
  { name: "input", label: texts.inputPrice },
  { name: "output", label: texts.outputPrice },
];

export const CACHE_PRICES: readonly PriceField[] = [
  { name: "cache_read", label: texts.cacheReadPrice, hint: texts.emptyInputPrice },
  { name: "cache_write_5m", label: texts.cacheWrite5Minutes, hint: texts.cacheWriteHint },
  { name: "cache_write_1h", label: texts.cacheWrite1Hour, hint: texts.cacheWrite1HourDefaultHint },
];

/** The members that few models need. */
export const FURTHER_PRICES: readonly PriceField[] = [
  { name: "reasoning", label: texts.reasoningPrice },
  { name: "audio_input", label: texts.audioInputPrice },
  { name: "audio_output", label: texts.audioOutputPrice },
  { name: "image_input", label: texts.imageInputPrice },
  { name: "image_output", label: texts.imageOutputPrice },
  { name: "web_searches_1k", label: texts.webSearchesPrice },
  { name: "search_units_1k", label: texts.searchUnitsPrice },
  { name: "audio_hour", label: texts.audioHourPrice },
];

const NAMES = [...TOKEN_PRICES, ...CACHE_PRICES, ...FURTHER_PRICES].map(({ name }) => name);

/** Input values of a price, as texts by the names of its members. Absent or empty: no price. */
export type PriceDraft = Readonly<Partial<Record<keyof Price, string>>>;

/** Returns the input values for a price. */
export function toPriceDraft(price: Price | undefined): PriceDraft {
  const named: Partial<Price> = {
    ...price,
    ...(price?.cached_input !== undefined && { cache_read: price.cache_read ?? price.cached_input }),
  };
  return Object.fromEntries(
    NAMES.flatMap((name) => (named[name] === undefined ? [] : [[name, String(named[name])]])),
  );
}

const listGiven = (draft: PriceDraft): readonly (readonly [name: keyof Price, text: string])[] =>
  NAMES.flatMap((name) => {
    const text = draft[name]?.trim() ?? "";
    return text === "" ? [] : [[name, text] as const];
  });

/** Finds the input values that are no prices. */
export function findPriceFaults(draft: PriceDraft): Faults {
  const wrong = listGiven(draft).filter(([, text]) => !(Number(text) >= 0 && Number.isFinite(Number(text))));
  return Object.fromEntries(wrong.map(([name]) => [`price.${name}`, texts.mustBeAtLeast0]));
}

/** Converts the input values to a price; null: nothing is set. */
export function parsePrice(draft: PriceDraft): Price | null {
  const given = listGiven(draft);
  if (given.length === 0) return null;
  return {
    input: 0,
    output: 0,
    ...Object.fromEntries(given.map(([name, text]) => [name, Number(text)])),
  };
}
