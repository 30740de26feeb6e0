import type { Citation } from "../../../core/conversation/sources.ts";

/** A citation of a web page in a text, in the form of the chat-completions and responses styles. */
export interface UrlCitation {
  readonly start_index: number;
  readonly end_index: number;
  readonly title: string;
  readonly url: string;
}

/** Builds the citations of a text. `behind` is the offset of the text in the answer, in characters. */
export function toUrlCitations(citations: readonly Citation[], behind = 0): UrlCitation[] {
  return citations
    .filter(({ start }) => start >= behind)
    .map(({ start, end, title, url }) => ({
      start_index: start - behind,
      end_index: end - behind,
      title,
      url,
    }));
}
