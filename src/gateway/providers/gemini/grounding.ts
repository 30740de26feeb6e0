import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { type ProviderEvent, type SearchResult, toQueryEvents } from "../answers/provider-events.ts";

/** Maximum number of citations of an answer. */
const MAX_CITATIONS = 1000;

/** Converts the grounding metadata of an answer into events: the pages that a search found, and the citations of them. */
export function toGroundingEvents(metadata: JsonObject, text: string): ProviderEvent[] {
  const chunks = listObjects(metadata["groundingChunks"]);
  const pages = chunks.map((chunk): Omit<SearchResult, "index"> | null => {
    const web = isObject(chunk["web"]) ? chunk["web"] : {};
    const { uri, title } = web;
    if (typeof uri !== "string" || uri === "") return null;
    return { url: uri, title: typeof title === "string" && title !== "" ? title : uri };
  });
  const sources = pages.flatMap((page, index) => (page === null ? [] : [{ index: index + 1, ...page }]));
  if (sources.length === 0) return [];
  const supports = listObjects(metadata["groundingSupports"]).slice(0, MAX_CITATIONS);
  const segments = supports.map(({ segment }) => (isObject(segment) ? segment : {}));
  const characters = charactersAtByteOffsets(
    segments.flatMap(({ startIndex, endIndex }) => [readOffset(startIndex), readOffset(endIndex)]),
    text,
  );
  const locator = new SegmentLocator(text);
  const citations: ProviderEvent[] = [];
  for (const { segment, groundingChunkIndices: indices } of supports) {
    if (!isObject(segment) || !Array.isArray(indices)) continue;
    const cited = indices.slice(0, MAX_CITATIONS - citations.length).flatMap((index: unknown) => {
      const page = typeof index === "number" ? pages[index] : undefined;
      return page ? [page] : [];
    });
    if (cited.length === 0) continue;
    const claim = locator.locate(segment, characters);
    for (const page of cited) {
      citations.push({ type: "citation", ...page, start: claim.end, end: claim.end, claim });
    }
  }
  const queries = Array.isArray(metadata["webSearchQueries"]) ? metadata["webSearchQueries"] : [];
  return [...toQueryEvents(queries), { type: "search", results: sources }, ...citations];
}

/** Finds the positions of segments in an answer. */
class SegmentLocator {
  readonly #text: string;
  /** Positions of texts that are not at their stated offset; -1: not found. */
  readonly #offsets = new Map<string, number>();
  /** How many characters may still be searched for such texts. */
  #searchCharsLeft: number;

  constructor(text: string) {
    this.#text = text;
    this.#searchCharsLeft = 64 * text.length;
  }

  /**
   * The range of a segment. Its offsets count UTF-8 bytes from the beginning of its part. Its text is more reliable: if
   * the text is not at the offset, the answer is searched for it.
   */
  locate(segment: JsonObject, characters: ReadonlyMap<number, number>): { start: number; end: number } {
    const { startIndex, endIndex, text: segmentText } = segment;
    const start = characters.get(readOffset(startIndex)) ?? 0;
    if (typeof segmentText === "string" && segmentText !== "" && !this.#text.startsWith(segmentText, start)) {
      const index = this.#find(segmentText);
      if (index !== -1) return { start: index, end: index + segmentText.length };
    }
    return { start, end: Math.max(start, characters.get(readOffset(endIndex)) ?? 0) };
  }

  #find(segmentText: string): number {
    const known = this.#offsets.get(segmentText);
    if (known !== undefined) return known;
    if (this.#searchCharsLeft <= 0) return -1;
    const index = this.#text.indexOf(segmentText);
    this.#searchCharsLeft -= index === -1 ? this.#text.length : index + segmentText.length;
    this.#offsets.set(segmentText, index);
    return index;
  }
}

function readOffset(value: unknown): number {
  return typeof value === "number" ? Math.max(0, value) : 0;
}

/** How many UTF-16 characters of the text lie before each UTF-8 byte offset. Reads the text once. */
function charactersAtByteOffsets(offsets: readonly number[], text: string): ReadonlyMap<number, number> {
  const characters = new Map<number, number>();
  let bytes = 0;
  let index = 0;
  for (const offset of [...new Set(offsets)].sort((a, b) => a - b)) {
    while (index < text.length && bytes < offset) {
      const point = text.codePointAt(index) ?? 0;
      bytes += utf8Length(point);
      index += point > 0xffff ? 2 : 1;
    }
    characters.set(offset, index);
  }
  return characters;
}

/** The length of a code point in UTF-8 bytes. */
function utf8Length(point: number): number {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}

function listObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
