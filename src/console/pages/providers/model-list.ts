import type { ModelSaid, ProviderView } from "../../api/providers.ts";
import { count, moment } from "../../ui/format.ts";

/** A model of a provider as it is listed. What is not known is left to the backend. */
export interface ListedModel extends Omit<ModelSaid, "upstream" | "enabled"> {
  /** What callers ask for, behind the provider's id and a slash. */
  readonly name: string;
  /** What the provider calls it. */
  readonly upstream: string;
  readonly enabled: boolean;
}

/** The models of a provider, in the order in which they are listed. */
export function modelsOf({ models }: Pick<ProviderView, "models">): ListedModel[] {
  return Object.entries(models).map(([name, said]) => {
    const model = typeof said === "string" ? { upstream: said } : said;
    return { ...model, name, upstream: model.upstream ?? name, enabled: model.enabled !== false };
  });
}

/** Those that have a text in one of their names, whatever its case. */
export function modelsWith(models: readonly ListedModel[], needle: string): ListedModel[] {
  const text = needle.trim().toLowerCase();
  return models.filter(({ name, upstream }) => `${name}\n${upstream}`.toLowerCase().includes(text));
}

/** What a model can do and what it cannot, as far as that is known: "thinking, no images". */
export function abilities({ thinking, vision, search }: ListedModel): string {
  const told = (
    [
      ["thinking", thinking],
      ["images", vision],
      ["search", search],
    ] as const
  ).flatMap(([ability, has]) => (has === undefined ? [] : [has ? ability : `no ${ability}`]));
  return told.join(", ");
}

/** How many tokens a model holds, and how many of them it may answer with; empty where neither is known. */
export function sizes({ context, output }: ListedModel): string {
  const told = [
    ...(context === undefined ? [] : [`${count(context)} tokens`]),
    ...(output === undefined ? [] : [`${count(output)} out`]),
  ];
  return told.join(", ");
}

/** What a million tokens in and out cost; empty where that is not known here. */
export function priceWords({ price }: ListedModel): string {
  return price === undefined ? "" : `${price.input} in, ${price.output} out a million`;
}

/** When a provider is asked for its models by schedule, and what came of it last; empty: it is not. */
export function schedule({ models_refresh_hours, new_models, models_asked }: ProviderView): string {
  if (models_refresh_hours === 0) return "";
  const often = models_refresh_hours === 1 ? "every hour" : `every ${count(models_refresh_hours)} hours`;
  const what = `Asked for its models ${often}; new ones are switched ${new_models}.`;
  if (models_asked === null || models_asked === undefined) return what;
  const { at, error, added } = models_asked;
  const found = added === 0 ? "nothing new" : `${count(added)} new`;
  return `${what} Last on ${moment(at)}: ${error === "" ? found : error}.`;
}

/** How many models are listed, and how many of them are switched off. */
export function tally(models: readonly ListedModel[]): string {
  const off = models.filter(({ enabled }) => !enabled).length;
  const all = `${count(models.length)} ${models.length === 1 ? "model" : "models"}`;
  return off === 0 ? all : `${all}, ${count(off)} off`;
}
