import type { ModelFields } from "../../api/providers.ts";
import { findPriceFaults, type PriceDraft, parsePrice, toPriceDraft } from "../../shared/price-draft.ts";
import type { Faults } from "../../ui/forms/form-errors.ts";
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
  readonly price: PriceDraft;
}

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
    price: toPriceDraft(model?.price),
  };
}

/**
 * Validates the input values.
 *
 * @param otherNames names of the provider's other models
 */
export function validateModelDraft(draft: ModelDraft, otherNames: readonly string[]): Faults {
  const faults: Partial<Record<keyof ModelDraft, string>> = {};
  const name = draft.name.trim();
  if (name === "") faults.name = texts.enterName;
  if (otherNames.includes(name)) faults.name = texts.modelExists;
  for (const size of ["context", "output"] as const) {
    const tokens = Number(draft[size]);
    const isValid = draft[size].trim() === "" || (Number.isSafeInteger(tokens) && tokens > 0);
    if (!isValid) faults[size] = texts.mustBeAtLeast1;
  }
  return { ...faults, ...findPriceFaults(draft.price) };
}

const parseAbility = (choice: string) => (choice === "" ? null : choice === "yes");
const parseNumber = (text: string) => (text.trim() === "" ? null : Number(text));

/** Converts valid input values to the request. */
export function toModelFields(draft: ModelDraft): ModelFields {
  return {
    upstream: draft.upstream.trim() || null,
    enabled: draft.enabled,
    thinking: parseAbility(draft.thinking),
    vision: parseAbility(draft.vision),
    search: parseAbility(draft.search),
    context: parseNumber(draft.context),
    output: parseNumber(draft.output),
    price: parsePrice(draft.price),
  };
}
