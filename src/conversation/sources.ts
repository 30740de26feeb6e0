/** A page that a search found. */
export interface Source {
  readonly url: string;
  readonly title: string;
}

/** A place in the answer where a source is referred to. Offsets are UTF-16 units in the answer's whole text. */
export interface Citation extends Source {
  /** The link that stands there; where it was hidden, the place is empty and both are the same. */
  readonly start: number;
  readonly end: number;
  /** What the source is given for: the sentence or line before that place. */
  readonly claim: { readonly start: number; readonly text: string };
  /** What the page says there. Absent: the provider does not tell. */
  readonly quoted?: string;
}

/** What an answer rests on. */
export interface Sources {
  /** All that was found, each page once. */
  readonly found: readonly Source[];
  /** In the order of the text. */
  readonly citations: readonly Citation[];
}
