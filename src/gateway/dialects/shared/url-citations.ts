import type { Citation } from "../../../core/conversation/sources.ts";

/** A citation of a web page in a text, in the form of the chat-completions and responses styles. */
export interface UrlCitation {
  readonly start_index: number;
  readonly end_index: number;
  readonly title: string;
  readonly url: string;
}

/** Builds the citations of a text. `offset` is the offset of the text in the answer, in characters. */
export function toUrlCitations(citations: readonly Citation[], offset = 0): UrlCitation[] {
  return citations
    .filter(({ start }) => start >= offset)
    .map(({ start, end, title, url }) => ({
      start_index: start - offset,
      end_index: end - offset,
      title,
      url,
    }));
}
