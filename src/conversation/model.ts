/** What the provider calls its models, and what they can do. */
export interface CatalogueModel {
  /** Canonical id (contract, Model object). */
  readonly id: string;
  /** The provider's name for it (`model` of a turn). */
  readonly upstream: string;
  /** The id of the provider that has it, which knows it by its `upstream` name alone. Absent: a model of the catalogue. */
  readonly provider?: string;
  /** False for a `-nothinking` variant: thinking stays off even if the request enables it. */
  readonly thinking: boolean;
  readonly search: boolean;
  readonly vision: boolean;
  /** Tokens that it can read and write at once. Absent: nobody knows. */
  readonly context?: number;
  /** Tokens that one answer may have. Absent: nobody knows. */
  readonly output?: number;
  /** The model of the same provider that sees images in its place. Absent: there is none, or it may see them itself. */
  readonly sighted?: CatalogueModel;
  /** The model of the same provider that searches the web in its place. Absent: there is none, or it may search itself. */
  readonly searching?: CatalogueModel;
}

/** One of the models that a name may lead to. */
export interface RouteTarget {
  readonly model: CatalogueModel;
  /** Its share of the conversations. Where no target has one, the first that can answers. */
  readonly weight?: number;
}

/** A requested name together with the canonical model that it stands for. */
export interface ResolvedModel extends CatalogueModel {
  /** The name as the caller wrote it; what an answer names where the style repeats it. */
  readonly requested: string;
  /** All that the name may lead to, in order. Absent: this model alone. */
  readonly route?: readonly RouteTarget[];
}
