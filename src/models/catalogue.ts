import type { CatalogueModel } from "../conversation/model.ts";

/** Tokens of context that every model offers; told to clients that plan by it. */
export const CONTEXT_LENGTH = 131_072;

/** Unix time at which the catalogue's models appeared (`created` of a model object). */
export const CATALOGUE_CREATED = 1_745_280_000;

/** `owned_by` of a model object. */
export const MODEL_OWNER = "provider";

export const NO_THINKING = "-nothinking";

function withVariant(model: Omit<CatalogueModel, "thinking">): CatalogueModel[] {
  return [
    { ...model, thinking: true },
    { ...model, id: model.id + NO_THINKING, thinking: false },
  ];
}

/** The canonical models, in the contract's list order. */
export const CATALOGUE: readonly CatalogueModel[] = [
  ...withVariant({ id: "provider-v4-flash", upstream: "flash", search: false, vision: false }),
  ...withVariant({ id: "provider-v4-pro", upstream: "pro", search: false, vision: false }),
  ...withVariant({ id: "provider-v4-flash-search", upstream: "flash", search: true, vision: false }),
  ...withVariant({ id: "provider-v4-pro-search", upstream: "pro", search: true, vision: false }),
  ...withVariant({ id: "provider-v4-vision", upstream: "vision", search: false, vision: true }),
];

const byId = new Map(CATALOGUE.map((model) => [model.id, model]));

/** The model that sees images in place of one that does not. It thinks if that one does; none of them searches. */
export function visionModel(model: CatalogueModel): CatalogueModel {
  if (model.vision) return model;
  return CATALOGUE.find(({ vision, thinking }) => vision && thinking === model.thinking) ?? model;
}

/** The model that searches in place of one that does not. It thinks if that one does; one that sees images is left as it is. */
export function searchModel(model: CatalogueModel): CatalogueModel {
  if (model.search || model.vision) return model;
  const { upstream, thinking } = model;
  return (
    CATALOGUE.find((other) => other.search && other.upstream === upstream && other.thinking === thinking) ??
    model
  );
}

/** The model of a canonical id. */
export function catalogueModel(id: string): CatalogueModel | undefined {
  return byId.get(id);
}
