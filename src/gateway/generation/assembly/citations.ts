import type { Citation, Source } from "../../../core/conversation/sources.ts";
import type { SearchResult } from "../../providers/answers/provider-events.ts";

/**
 * A complete marker, and (`PARTIAL`) the beginning of a marker at the end of the text. The number of digits is limited, and
 * with it the length of the text that is held back.
 */
const MARKER = /\[(citation|reference):(\d{1,6})\]/g;
const PARTIAL =
  /\[(?:(?:c(?:i(?:t(?:a(?:t(?:i(?:o(?:n(?::\d{0,6})?)?)?)?)?)?)?)?)|(?:r(?:e(?:f(?:e(?:r(?:e(?:n(?:c(?:e(?::\d{0,6})?)?)?)?)?)?)?)?)?))?$/;

/** Most citations that are reported for one answer. */
export const MAX_CITATIONS = 1_000;
/** Longer than the longest beginning of a marker, in characters. */
const MAX_PARTIAL_CHARS = 20;
/** How many characters before a marker are searched for the claim that it supports. */
const MAX_CLAIM_CHARS = 500;
/** Number of characters to store from the end of the text: the claim, and an incomplete marker that may be removed. */
const TAIL_CHARS = MAX_CLAIM_CHARS + MAX_PARTIAL_CHARS;
const LEADING_PUNCTUATION = /^[\s,;:.!?]*/;
const SENTENCE_END = /[.!?。！？](?=\s)|\n/g;

/** A marker in the text. `at` is its offset in the text that the caller sees. */
interface CitationMarker {
  readonly kind: string;
  readonly number: number;
  readonly at: number;
  readonly claim: Citation["claim"];
}

/**
 * The end of a growing text. Only the last {@link TAIL_CHARS} characters are kept and
 * searched, however long the text is.
 */
class TextTail {
  #text = "";
  #length = 0;
  /** The end of the last marker's text, and the claim of that marker. */
  #markerEnd = 0;
  #claim: Citation["claim"] = { start: 0, text: "" };

  /** Length of the whole text in characters (UTF-16 units). */
  get length(): number {
    return this.#length;
  }

  push(piece: string): void {
    this.#length += piece.length;
    this.#text = (piece.length < TAIL_CHARS ? this.#text + piece : piece).slice(-TAIL_CHARS);
  }

  /** Removes the last `characters` characters of the text. */
  takeBack(characters: number): void {
    this.#length -= characters;
    this.#text = this.#text.slice(0, Math.max(0, this.#text.length - characters));
  }

  /**
   * The claim of a marker at the end of the text: the sentence or line before it, but not what precedes the previous
   * marker.
   */
  takeClaim(): Citation["claim"] {
    const claimLength = Math.min(MAX_CLAIM_CHARS, Math.max(0, this.#length - this.#markerEnd));
    const text =
      claimLength < this.#text.length ? this.#text.slice(this.#text.length - claimLength) : this.#text;
    const trimmed = text.trimEnd();
    const sentenceEnds = [...trimmed.slice(0, -1).matchAll(SENTENCE_END)];
    const claimText = trimmed.slice((sentenceEnds.at(-1)?.index ?? -1) + 1).replace(LEADING_PUNCTUATION, "");
    this.#markerEnd = this.#length;
    // Adjacent markers share a claim.
    if (claimText !== "") {
      this.#claim = {
        start: this.#length - (text.length - trimmed.length) - claimText.length,
        text: claimText,
      };
    }
    return this.#claim;
  }

  /** Appends text that is not part of any claim. */
  skip(piece: string): void {
    this.push(piece);
    this.#markerEnd = this.#length;
  }
}

/** The claim of a citation at an offset in a text: the sentence or line before it. */
export function findClaimBefore(text: string, at: number): Citation["claim"] {
  const recent = new TextTail();
  recent.push(text.slice(0, at));
  return recent.takeClaim();
}

/**
 * Removes the upstream's `[citation:N]` and `[reference:N]` placeholders from a stream (docs/contract.md, general rule
 * 8), also when a placeholder is split between two chunks, and remembers their positions.
 */
export class CitationFilter {
  readonly #markers: CitationMarker[] = [];
  readonly #shownTail = new TextTail();
  /** Text not yet emitted, because it may be the beginning of a marker. */
  #held = "";

  /** Takes the next chunk. Returns the text that can be shown now. */
  push(text: string): string {
    if (this.#held === "" && !text.includes("[")) {
      this.#shownTail.push(text);
      return text;
    }
    const input = this.#held + text;
    let cleaned = "";
    let read = 0;
    for (const match of input.matchAll(MARKER)) {
      const segment = input.slice(read, match.index);
      cleaned += segment;
      read = match.index + match[0].length;
      this.#shownTail.push(segment);
      this.#addMarker(match[1] ?? "", Number(match[2]));
    }
    const rest = input.slice(read);
    cleaned += rest;
    this.#shownTail.push(rest);
    // The search covers only the text after the last marker: text on both sides of a marker never forms another marker.
    const partial = PARTIAL.exec(rest.length > MAX_PARTIAL_CHARS ? rest.slice(-MAX_PARTIAL_CHARS) : rest);
    const heldLength = partial === null ? 0 : partial[0].length;
    this.#held = heldLength === 0 ? "" : rest.slice(-heldLength);
    this.#shownTail.takeBack(heldLength);
    return heldLength === 0 ? cleaned : cleaned.slice(0, -heldLength);
  }

  /** Ends the text. Returns the held text, which turned out to be ordinary. */
  finish(): string {
    const held = this.#held;
    this.#held = "";
    this.#shownTail.push(held);
    return held;
  }

  /** The last `characters` characters will not be shown: removes them from the text. */
  takeBack(characters: number): void {
    this.#shownTail.takeBack(characters);
  }

  /** The citations of all markers that refer to one of the results. */
  citations(results: readonly SearchResult[]): Citation[] {
    const find = createResultLookup(
      this.#markers.some(({ kind, number }) => kind === "reference" && number === 0),
      results,
    );
    return this.#markers.flatMap(({ kind, number, at, claim }): Citation[] => {
      const source = find(kind, number);
      return source === undefined
        ? []
        : [{ url: source.url, title: source.title, start: at, end: at, claim }];
    });
  }

  #addMarker(kind: string, number: number): void {
    if (this.#markers.length === MAX_CITATIONS) return;
    this.#markers.push({ kind, number, at: this.#shownTail.length, claim: this.#shownTail.takeClaim() });
  }
}

/** Escapes a URL for a Markdown link's target, so that no character in it ends the link early. */
function escapeLinkTarget(url: string): string {
  return url.replace(/[()\s<>]/g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/**
 * Creates the lookup from markers to results. `[citation:N]` refers to the result with index N, from 1. `[reference:N]`
 * counts from 0 if `[reference:0]` occurs in the same text, else from 1 (provider protocol, event `search`).
 */
function createResultLookup(
  startsAtZero: boolean,
  results: readonly SearchResult[],
): (kind: string, number: number) => SearchResult | undefined {
  const byIndex = new Map(results.map((result) => [result.index, result]));
  const offset = startsAtZero ? 1 : 0;
  return (kind, number) => byIndex.get(number + (kind === "reference" ? offset : 0));
}

/**
 * Converts citation markers to Markdown links (docs/contract.md, general rule 8), and returns the links' positions.
 * A marker without a matching result is an internal placeholder and is removed.
 */
export function linkCitations(
  text: string,
  results: readonly SearchResult[],
): { readonly text: string; readonly citations: readonly Citation[] } {
  if (!text.includes("[citation:") && !text.includes("[reference:")) return { text, citations: [] };
  const find = createResultLookup(text.includes("[reference:0]"), results);
  const citations: Citation[] = [];
  const recent = new TextTail();
  let linked = "";
  let read = 0;
  for (const match of text.matchAll(MARKER)) {
    const segment = text.slice(read, match.index);
    read = match.index + match[0].length;
    linked += segment;
    recent.push(segment);
    const claim = recent.takeClaim();
    const source = find(match[1] ?? "", Number(match[2]));
    if (source === undefined) continue;
    const { index, url, title } = source;
    const link = `[${index}](${escapeLinkTarget(url)})`;
    linked += link;
    recent.skip(link);
    if (citations.length === MAX_CITATIONS) continue;
    citations.push({ url, title, start: recent.length - link.length, end: recent.length, claim });
  }
  return { text: linked + text.slice(read), citations };
}

/** Removes duplicate URLs. The order is that of the first occurrence; of equal URLs the last title is kept. */
export function deduplicateSources(results: readonly Source[]): Source[] {
  return [...new Map(results.map(({ url, title }) => [url, { url, title }])).values()];
}
