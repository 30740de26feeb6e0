/** How the names of a model are recognised, in lower case. */
export type NameMatch =
  | { readonly equals: string }
  | { readonly starts_with: string }
  | { readonly ends_with: string }
  | { readonly contains: string }
  | { readonly regex: string }
  | { readonly and: readonly NameMatch[] }
  | { readonly or: readonly NameMatch[] };

/** US dollars, by the names of a price in the configuration. */
export interface KnownPrice {
  readonly input?: number;
  readonly output?: number;
  readonly cache_read?: number;
  readonly cache_write_5m?: number;
  readonly cache_write_1h?: number;
  readonly reasoning?: number;
  readonly audio_input?: number;
  readonly audio_output?: number;
  readonly image_input?: number;
  readonly image_output?: number;
  readonly web_searches_1k?: number;
  readonly audio_hour?: number;
}

/** What is known of a model. What is absent is unknown. */
export interface KnownModel {
  readonly id: string;
  readonly match: NameMatch;
  /** Tokens. */
  readonly context?: number;
  readonly output?: number;
  readonly vision?: boolean;
  readonly thinking?: boolean;
  readonly tools?: boolean;
  readonly price: KnownPrice;
}

export interface KnownProvider {
  readonly id: string;
  /** A regular expression: the beginning of the addresses of its API. */
  readonly address: string;
  /** Providers whose models it sells at their prices. */
  readonly fallbacks?: readonly string[];
  readonly models: readonly KnownModel[];
}

/** The data of `known-models-data.ts`. */
export interface KnownModels {
  /** The packages that the data come from, with their versions. */
  readonly source: readonly string[];
  /** The day for which the prices were read. */
  readonly date: string;
  readonly providers: readonly KnownProvider[];
}
