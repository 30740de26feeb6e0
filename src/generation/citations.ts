import type { Citation, Source } from "../conversation/sources.ts";
import type { SearchResult } from "../provider/provider.ts";

/** A whole marker, or a piece that the end of the text may still complete. Digits are bounded, so is the hold-back. */
const MARKER = /\[(citation|reference):(\d{1,6})\]/g;
const PARTIAL =
  /\[(?:(?:c(?:i(?:t(?:a(?:t(?:i(?:o(?:n(?::\d{0,6})?)?)?)?)?)?)?)?)|(?:r(?:e(?:f(?:e(?:r(?:e(?:n(?:c(?:e(?::\d{0,6})?)?)?)?)?)?)?)?)?))?$/;

/** Most places of one answer that are told. */
export const MAX_CITATIONS = 1_000;
/** More characters than the beginning of a marker has. */
const MARKER_CHARS = 20;
/** Characters before a marker in which the claim is looked for that it is about. */
const CLAIM_REACH = 500;
/** Characters of the text that are held: the beginning of a marker may be taken back from the claim's. */
const WINDOW = CLAIM_REACH + MARKER_CHARS;
const NO_WORDS = /^[\s,;:.!?]*/;
const SENTENCE_END = /[.!?。！？](?=\s)|\n/g;

/** A marker that has been found: what it says, and where it stood in the text that is shown. */
interface Mark {
  readonly kind: string;
  readonly number: number;
  readonly at: number;
  readonly claim: Citation["claim"];
}

/** The end of a text of which there is more and more. Only so much is held, and read again, however long the text is. */
class Recent {
  #text = "";
  #length = 0;
  /** The place of the last marker, and what it was about. */
  #since = 0;
  #claim: Citation["claim"] = { start: 0, text: "" };

  /** Characters of the whole text. */
  get length(): number {
    return this.#length;
  }

  push(piece: string): void {
    this.#length += piece.length;
    this.#text = (piece.length < WINDOW ? this.#text + piece : piece).slice(-WINDOW);
  }

  /** So many of the last characters are not part of the text after all. */
  takeBack(characters: number): void {
    this.#length -= characters;
    this.#text = this.#text.slice(0, Math.max(0, this.#text.length - characters));
  }

  /** What a marker is about that stands at the end: the sentence or line, from the marker before it if that has one. */
  claim(): Citation["claim"] {
    const own = Math.min(CLAIM_REACH, Math.max(0, this.#length - this.#since));
    const text = own < this.#text.length ? this.#text.slice(this.#text.length - own) : this.#text;
    const reach = text.trimEnd();
    const ends = [...reach.slice(0, -1).matchAll(SENTENCE_END)];
    const words = reach.slice((ends.at(-1)?.index ?? -1) + 1).replace(NO_WORDS, "");
    this.#since = this.#length;
    // Markers side by side are about the same.
    if (words !== "") {
      this.#claim = { start: this.#length - (text.length - reach.length) - words.length, text: words };
    }
    return this.#claim;
  }

  /** Adds what is no part of any claim. */
  skip(piece: string): void {
    this.push(piece);
    this.#since = this.#length;
  }
}

/** What something is about that stands at a place in a text: the sentence or line before it. */
export function claimBefore(text: string, at: number): Citation["claim"] {
  const recent = new Recent();
  recent.push(text.slice(0, at));
  return recent.claim();
}

/**
 * Hides the upstream's `[citation:N]` and `[reference:N]` placeholders from a stream (contract, general rule 8),
 * however the text is cut, and remembers where they stood.
 */
export class CitationFilter {
  readonly #marks: Mark[] = [];
  readonly #shown = new Recent();
  /** The beginning of what may be a marker. */
  #held = "";

  /** The text that can be shown by now. */
  push(text: string): string {
    if (this.#held === "" && !text.includes("[")) {
      this.#shown.push(text);
      return text;
    }
    const whole = this.#held + text;
    let clean = "";
    let read = 0;
    for (const match of whole.matchAll(MARKER)) {
      const words = whole.slice(read, match.index);
      clean += words;
      read = match.index + match[0].length;
      this.#shown.push(words);
      this.#mark(match[1] ?? "", Number(match[2]));
    }
    const rest = whole.slice(read);
    clean += rest;
    this.#shown.push(rest);
    // Text before a marker and text after it form no marker together.
    const partial = PARTIAL.exec(rest.length > MARKER_CHARS ? rest.slice(-MARKER_CHARS) : rest);
    const keep = partial === null ? 0 : partial[0].length;
    this.#held = keep === 0 ? "" : rest.slice(-keep);
    this.#shown.takeBack(keep);
    return keep === 0 ? clean : clean.slice(0, -keep);
  }

  /** What was held back and turned out to be ordinary text. */
  finish(): string {
    const held = this.#held;
    this.#held = "";
    this.#shown.push(held);
    return held;
  }

  /** So many of the last characters are not shown after all. */
  takeBack(characters: number): void {
    this.#shown.takeBack(characters);
  }

  /** The places of the markers that point at one of the results. */
  citations(results: readonly SearchResult[]): Citation[] {
    const find = finder(
      this.#marks.some(({ kind, number }) => kind === "reference" && number === 0),
      results,
    );
    return this.#marks.flatMap(({ kind, number, at, claim }): Citation[] => {
      const found = find(kind, number);
      return found === undefined ? [] : [{ url: found.url, title: found.title, start: at, end: at, claim }];
    });
  }

  #mark(kind: string, number: number): void {
    if (this.#marks.length === MAX_CITATIONS) return;
    this.#marks.push({ kind, number, at: this.#shown.length, claim: this.#shown.claim() });
  }
}

/** An address as a Markdown link's target: nothing in it may end the link early. */
function linkTarget(url: string): string {
  return url.replace(/[()\s<>]/g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/**
 * Finds what markers point at. `[citation:N]` points at the result with index N, from 1; `[reference:N]` counts from 0 when
 * `[reference:0]` occurs in the same text, else from 1 (provider protocol, event `search`).
 */
function finder(
  startsAtZero: boolean,
  results: readonly SearchResult[],
): (kind: string, number: number) => SearchResult | undefined {
  const byIndex = new Map(results.map((result) => [result.index, result]));
  const offset = startsAtZero ? 1 : 0;
  return (kind, number) => byIndex.get(number + (kind === "reference" ? offset : 0));
}

/**
 * Turns citation markers into Markdown links (contract, general rule 8, non-streaming), and tells where these stand. A marker
 * that points nowhere is an internal placeholder and goes.
 */
export function linkCitations(
  text: string,
  results: readonly SearchResult[],
): { readonly text: string; readonly citations: readonly Citation[] } {
  if (!text.includes("[citation:") && !text.includes("[reference:")) return { text, citations: [] };
  const find = finder(text.includes("[reference:0]"), results);
  const citations: Citation[] = [];
  const recent = new Recent();
  let linked = "";
  let read = 0;
  for (const match of text.matchAll(MARKER)) {
    const words = text.slice(read, match.index);
    read = match.index + match[0].length;
    linked += words;
    recent.push(words);
    const claim = recent.claim();
    const found = find(match[1] ?? "", Number(match[2]));
    if (found === undefined) continue;
    const { index, url, title } = found;
    const link = `[${index}](${linkTarget(url)})`;
    linked += link;
    recent.skip(link);
    if (citations.length === MAX_CITATIONS) continue;
    citations.push({ url, title, start: recent.length - link.length, end: recent.length, claim });
  }
  return { text: linked + text.slice(read), citations };
}

/** Each page once, in the order in which they were found. */
export function distinctSources(results: readonly Source[]): Source[] {
  return [...new Map(results.map(({ url, title }) => [url, { url, title }])).values()];
}
