/** How the caller wants the web to be searched; what is absent is left to the provider. */
export interface WebSearch {
  /** It is asked for itself. Otherwise the request has the tool, and whether it searches is left to the model. */
  readonly asked?: boolean;
  /** How much of what is found the model reads: `low`, `medium` or `high`. */
  readonly contextSize?: string;
  /** Where the person is who asks. */
  readonly location?: SearchLocation;
  /** How often it may search at most. */
  readonly maxUses?: number;
  /** Only pages of these. */
  readonly allowedDomains?: readonly string[];
  /** No pages of these. */
  readonly blockedDomains?: readonly string[];
}

/** A place as far as it is known. */
export interface SearchLocation {
  readonly city?: string;
  readonly region?: string;
  /** ISO 3166-1 alpha-2. */
  readonly country?: string;
  /** IANA time zone. */
  readonly timezone?: string;
}
