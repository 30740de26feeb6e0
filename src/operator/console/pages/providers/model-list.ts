import type { ModelInfo, ProviderView } from "../../api/providers.ts";
import { formatCount } from "../../ui/count.ts";
import { formatTime } from "../../ui/format.ts";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";

/** A listed model of a provider. Absent properties are unknown; the backend decides. */
export interface ListedModel extends Omit<ModelInfo, "upstream" | "enabled"> {
  /** Name for callers. They use it after the provider's id and a slash. */
  readonly name: string;
  /** Upstream name of the model. */
  readonly upstream: string;
  readonly enabled: boolean;
}

/** Returns a provider's models, in their stored order. */
export function listModels({ models }: Pick<ProviderView, "models">): ListedModel[] {
  return Object.entries(models).map(([name, entry]) => {
    const model = typeof entry === "string" ? { upstream: entry } : entry;
    return { ...model, name, upstream: model.upstream ?? name, enabled: model.enabled !== false };
  });
}

/** Returns the models whose names contain a text, ignoring case. */
export function searchModels(models: readonly ListedModel[], needle: string): ListedModel[] {
  const text = needle.trim().toLowerCase();
  return models.filter(({ name, upstream }) => `${name}\n${upstream}`.toLowerCase().includes(text));
}

/** What can be known of a model. */
type ModelFacts = Pick<ModelInfo, "thinking" | "vision" | "search" | "context" | "output" | "price">;

/** Describes the known abilities of a model: "thinking, no images". */
export function formatAbilities({ thinking, vision, search }: ModelFacts): string {
  const abilities = (
    [
      [texts.abilityThinking, thinking],
      [texts.abilityImages, vision],
      [texts.abilitySearch, search],
    ] as const
  ).flatMap(([ability, isSupported]) =>
    isSupported === undefined ? [] : [isSupported ? ability : texts.noAbility(ability)],
  );
  return abilities.join(", ");
}

/** Describes context and output limits in tokens; empty if both are unknown. */
export function formatSizes({ context, output }: ModelFacts): string {
  const sizes = [
    ...(context === undefined ? [] : [texts.tokens(formatCount(context))]),
    ...(output === undefined ? [] : [texts.out(formatCount(output))]),
  ];
  return sizes.join(", ");
}

/** Describes the prices of a million input and output tokens; empty if unknown. */
export function formatPrice({ price }: ModelFacts): string {
  return price === undefined ? "" : texts.inOutMillion(price.input, price.output);
}

/** Describes all that is known of a model: abilities, limits, prices. */
export function formatDetails(model: ModelFacts): string {
  return [formatSizes(model), formatPrice(model), formatAbilities(model)]
    .filter((text) => text !== "")
    .join(" · ");
}

/** Describes the scheduled model refresh and its last result; empty: no schedule. */
export function formatSchedule({ models_refresh_hours, new_models, models_asked }: ProviderView): string {
  if (models_refresh_hours === 0) return "";
  const interval =
    models_refresh_hours === 1 ? texts.everyHour : texts.everyHours(formatCount(models_refresh_hours));
  const schedule = texts.refreshSchedule(interval, new_models);
  if (models_asked === null || models_asked === undefined) return schedule;
  const { at, error, added } = models_asked;
  const result = added === 0 ? texts.nothingNew : texts.new(formatCount(added));
  return texts.lastOn(schedule, formatTime(at), error === "" ? result : error);
}

/** Describes the number of models and of disabled models. */
export function formatModelCount(models: readonly ListedModel[]): string {
  const disabledCount = models.filter(({ enabled }) => !enabled).length;
  const total = words.modelCount(models.length);
  return disabledCount === 0 ? total : texts.off(total, formatCount(disabledCount));
}
