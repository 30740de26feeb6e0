/** A page that a search found. */
export interface Source {
  readonly url: string;
  readonly title: string;
}

/** A place in the answer that refers to a source. Offsets count UTF-16 units in the answer's whole text. */
export interface Citation extends Source {
  /** The link's offsets. If the marker was removed, `start` equals `end`. */
  readonly start: number;
  readonly end: number;
  /** The claim that the source supports: the sentence or line before the place. */
  readonly claim: { readonly start: number; readonly text: string };
  /** The cited text of the page. Absent: the provider does not state it. */
  readonly quoted?: string;
}

/** The sources of an answer. */
export interface Sources {
  /** What the provider searched for, as far as it says so. */
  readonly queries: readonly string[];
  /** All pages that were found, without duplicates. */
  readonly found: readonly Source[];
  /** In the order of the text. */
  readonly citations: readonly Citation[];
}

/** The citations of one of the separate texts of an answer. */
export function citationsIn(
  { text, start }: { readonly text: string; readonly start: number },
  sources: Sources | undefined,
): Citation[] {
  const end = start + text.length;
  return (sources?.citations ?? []).filter((citation) => citation.start >= start && citation.start <= end);
}
