import type { CatalogueModel } from "../../core/conversation/model.ts";

/** Context length of every model in tokens, reported to clients that plan with it. */
export const CONTEXT_LENGTH = 131_072;

/** Unix time (seconds) of the catalogue's models (`created` of a model object). */
export const CATALOGUE_CREATED = 1_745_280_000;

/** `owned_by` of a model object. */
export const MODEL_OWNER = "provider";

export const NO_THINKING_SUFFIX = "-nothinking";

function withThinkingVariant(model: Omit<CatalogueModel, "thinking">): CatalogueModel[] {
  return [
    { ...model, thinking: true },
    { ...model, id: model.id + NO_THINKING_SUFFIX, thinking: false },
  ];
}

/** The canonical models, in the contract's list order. */
export const CATALOGUE: readonly CatalogueModel[] = [
  ...withThinkingVariant({ id: "provider-v4-flash", upstream: "flash", search: false, vision: false }),
  ...withThinkingVariant({ id: "provider-v4-pro", upstream: "pro", search: false, vision: false }),
  ...withThinkingVariant({ id: "provider-v4-flash-search", upstream: "flash", search: true, vision: false }),
  ...withThinkingVariant({ id: "provider-v4-pro-search", upstream: "pro", search: true, vision: false }),
  ...withThinkingVariant({ id: "provider-v4-vision", upstream: "vision", search: false, vision: true }),
];

const byId = new Map(CATALOGUE.map((model) => [model.id, model]));

/**
 * Returns the vision model that replaces a model without vision. It has the same thinking setting, and never web search.
 */
export function getVisionModel(model: CatalogueModel): CatalogueModel {
  if (model.vision) return model;
  return CATALOGUE.find(({ vision, thinking }) => vision && thinking === model.thinking) ?? model;
}

/**
 * Returns the search model that replaces a model without web search, with the same thinking setting. Vision models are
 * returned unchanged.
 */
export function getSearchModel(model: CatalogueModel): CatalogueModel {
  if (model.search || model.vision) return model;
  const { upstream, thinking } = model;
  return (
    CATALOGUE.find(
      (candidate) => candidate.search && candidate.upstream === upstream && candidate.thinking === thinking,
    ) ?? model
  );
}

/** Returns the model with a canonical id. */
export function getCatalogueModel(id: string): CatalogueModel | undefined {
  return byId.get(id);
}
