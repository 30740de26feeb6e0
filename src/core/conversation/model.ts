import type { RouteStrategy } from "./route-strategy.ts";

/** A model: its names and abilities. */
export interface CatalogueModel {
  /** Canonical id (docs/contract/answers.md, Model object). */
  readonly id: string;
  /** The provider's name for it (`model` of a turn). */
  readonly upstream: string;
  /** The id of the configured provider, which knows only the `upstream` name. Absent: a model of the catalogue. */
  readonly provider?: string;
  /** The default provider's own model, which only its `upstream` name describes. Absent: no. */
  readonly isUpstreamName?: true;
  /** False for a `-nothinking` variant: thinking stays off even if the request enables it. */
  readonly thinking: boolean;
  readonly search: boolean;
  readonly vision: boolean;
  /** Context size in tokens. Absent: unknown. */
  readonly context?: number;
  /** Largest answer in tokens. Absent: unknown. */
  readonly output?: number;
  /** The same provider's model that replaces this one for images. Absent: none, or this model may have vision itself. */
  readonly visionVariant?: CatalogueModel;
  /** The same provider's model that replaces this one for web searches. Absent: none, or this model may search itself. */
  readonly searchVariant?: CatalogueModel;
}

/** Whether the caller chose a provider's own model, so that its `upstream` name is sent unchanged. */
export function hasUpstreamName({ provider, isUpstreamName }: CatalogueModel): boolean {
  return provider !== undefined || isUpstreamName === true;
}

/** One of the models that a requested name may lead to. */
export interface RouteTarget {
  readonly model: CatalogueModel;
  /** Its share of the conversations. If no target has a weight, targets are tried in order. */
  readonly weight?: number;
}

/** A canonical model together with the name that the caller requested. */
export interface ResolvedModel extends CatalogueModel {
  /** The name as the caller wrote it. Answers contain it if the style repeats the name. */
  readonly requested: string;
  /** All models that the name may lead to, in order. Absent: only this model. */
  readonly route?: readonly RouteTarget[];
  /** How the route's targets are ordered for a request. Absent: in their order, or by weight. */
  readonly routeStrategy?: Exclude<RouteStrategy, "order">;
}
