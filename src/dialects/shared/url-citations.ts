import type { Citation } from "../../conversation/sources.ts";

/** A place in a text that refers to a page, as the chat-completions and the responses style describe it. */
export interface UrlCitation {
  readonly start_index: number;
  readonly end_index: number;
  readonly title: string;
  readonly url: string;
}

/** Citations in a text that begins so many characters behind the answer's beginning. */
export function urlCitations(citations: readonly Citation[], behind = 0): UrlCitation[] {
  return citations
    .filter(({ start }) => start >= behind)
    .map(({ start, end, title, url }) => ({
      start_index: start - behind,
      end_index: end - behind,
      title,
      url,
    }));
}
