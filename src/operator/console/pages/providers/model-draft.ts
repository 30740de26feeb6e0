import type { ModelFields } from "../../api/providers.ts";
import { type FurtherPrices, parseFurtherPrices, toFurtherPrices } from "../../shared/further-prices.tsx";
import type { ListedModel } from "./model-list.ts";
import { texts } from "./texts.ts";

/** Input values of the model form: numbers are texts, unknown values are empty. */
export interface ModelDraft {
  readonly name: string;
  readonly upstream: string;
  readonly enabled: boolean;
  readonly thinking: string;
  readonly vision: string;
  readonly search: string;
  readonly context: string;
  readonly output: string;
  readonly price_input: string;
  readonly price_output: string;
  readonly price_cache_read: string;
  readonly price_cache_write_5m: string;
  readonly price_cache_write_1h: string;
  readonly further_prices: FurtherPrices;
}

/** Errors by field, as texts for the user. */
export type ModelFaults = Partial<Record<keyof ModelDraft, string>>;

const PRICE_FIELDS = [
  "price_input",
  "price_output",
  "price_cache_read",
  "price_cache_write_5m",
  "price_cache_write_1h",
] as const satisfies readonly (keyof ModelDraft)[];

/** Choices for an ability of a model. */
export const ABILITY_CHOICES = [
  ["", texts.notKnown],
  ["yes", texts.yes],
  ["no", texts.no],
] as const;

const formatAbility = (has: boolean | undefined) => (has === undefined ? "" : has ? "yes" : "no");
const formatNumber = (value: number | undefined) => (value === undefined ? "" : String(value));

/** Returns the input values for a model; null: a new model. */
export function toModelDraft(model: ListedModel | null): ModelDraft {
  return {
    name: model?.name ?? "",
    upstream: model === null || model.upstream === model.name ? "" : model.upstream,
    enabled: model?.enabled ?? true,
    thinking: formatAbility(model?.thinking),
    vision: formatAbility(model?.vision),
    search: formatAbility(model?.search),
    context: formatNumber(model?.context),
    output: formatNumber(model?.output),
    price_input: formatNumber(model?.price?.input),
    price_output: formatNumber(model?.price?.output),
    price_cache_read: formatNumber(model?.price?.cache_read ?? model?.price?.cached_input),
    price_cache_write_5m: formatNumber(model?.price?.cache_write_5m),
    price_cache_write_1h: formatNumber(model?.price?.cache_write_1h),
    further_prices: toFurtherPrices(model?.price),
  };
}

/**
 * Validates the input values.
 *
 * @param otherNames names of the provider's other models
 */
export function validateModelDraft(draft: ModelDraft, otherNames: readonly string[]): ModelFaults {
  const faults: ModelFaults = {};
  const name = draft.name.trim();
  if (name === "") faults.name = texts.enterName;
  if (otherNames.includes(name)) faults.name = texts.modelExists;
  for (const size of ["context", "output"] as const) {
    const tokens = Number(draft[size]);
    const isValid = draft[size].trim() === "" || (Number.isSafeInteger(tokens) && tokens > 0);
    if (!isValid) faults[size] = texts.mustBeAtLeast1;
  }
  for (const price of PRICE_FIELDS) {
    if (!(Number(draft[price]) >= 0)) faults[price] = texts.mustBeAtLeast0;
  }
  return faults;
}

const parseAbility = (choice: string) => (choice === "" ? null : choice === "yes");
const parseNumber = (text: string) => (text.trim() === "" ? null : Number(text));

/** Converts valid input values to the request. */
export function toModelFields(draft: ModelDraft): ModelFields {
  const further = parseFurtherPrices(draft.further_prices);
  const cacheRead = parseNumber(draft.price_cache_read);
  const cacheWrite5m = parseNumber(draft.price_cache_write_5m);
  const cacheWrite1h = parseNumber(draft.price_cache_write_1h);
  const priced = PRICE_FIELDS.some((name) => draft[name].trim() !== "") || Object.keys(further).length > 0;
  return {
    upstream: draft.upstream.trim() || null,
    enabled: draft.enabled,
    thinking: parseAbility(draft.thinking),
    vision: parseAbility(draft.vision),
    search: parseAbility(draft.search),
    context: parseNumber(draft.context),
    output: parseNumber(draft.output),
    price: priced
      ? {
          ...further,
          input: Number(draft.price_input),
          output: Number(draft.price_output),
          ...(cacheRead !== null && { cache_read: cacheRead }),
          ...(cacheWrite5m !== null && { cache_write_5m: cacheWrite5m }),
          ...(cacheWrite1h !== null && { cache_write_1h: cacheWrite1h }),
        }
      : null,
  };
}
