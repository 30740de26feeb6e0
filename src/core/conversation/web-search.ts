/** The caller's options for the web search. The provider decides about absent options. */
export interface WebSearch {
  /** True: the caller requests a search. Otherwise the model may decide to use the search tool. */
  readonly isRequested?: boolean;
  /** How much of the search results the model reads: `low`, `medium` or `high`. */
  readonly contextSize?: string;
  /** The location of the end user. */
  readonly location?: SearchLocation;
  /** Most searches. */
  readonly maxUses?: number;
  /** Only pages of these domains. */
  readonly allowedDomains?: readonly string[];
  /** No pages of these domains. */
  readonly blockedDomains?: readonly string[];
}

/** A location. Unknown parts are absent. */
export interface SearchLocation {
  readonly city?: string;
  readonly region?: string;
  /** ISO 3166-1 alpha-2. */
  readonly country?: string;
  /** IANA time zone. */
  readonly timezone?: string;
}
