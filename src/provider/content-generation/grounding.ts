import { isObject, type JsonObject } from "../../encoding/json.ts";
import type { ProviderEvent, SearchResult } from "../provider.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What an answer says of the pages that it rests on: the pages that were found, and the places that refer to them. */
export function groundingEvents(metadata: JsonObject, text: string): ProviderEvent[] {
  const chunks = objectsIn(metadata["groundingChunks"]);
  const pages = chunks.map((chunk): Omit<SearchResult, "index"> | null => {
    const web = isObject(chunk["web"]) ? chunk["web"] : {};
    const { uri, title } = web;
    if (typeof uri !== "string" || uri === "") return null;
    return { url: uri, title: typeof title === "string" && title !== "" ? title : uri };
  });
  const found = pages.flatMap((page, index) => (page === null ? [] : [{ index: index + 1, ...page }]));
  if (found.length === 0) return [];
  const bytes = encoder.encode(text);
  const citations = objectsIn(metadata["groundingSupports"]).flatMap((support): ProviderEvent[] => {
    const { segment, groundingChunkIndices: indices } = support;
    if (!isObject(segment) || !Array.isArray(indices)) return [];
    const claim = placeOf(segment, text, bytes);
    return indices.flatMap((index: unknown): ProviderEvent[] => {
      const page = typeof index === "number" ? pages[index] : undefined;
      if (!page) return [];
      return [{ type: "citation", ...page, start: claim.end, end: claim.end, claim }];
    });
  });
  return [{ type: "search", results: found }, ...citations];
}

/** Segments count bytes of UTF-8, from the beginning of their part, and say what they are: that is surer. */
function placeOf(segment: JsonObject, text: string, bytes: Uint8Array): { start: number; end: number } {
  const { startIndex, endIndex, text: said } = segment;
  const characters = (count: unknown): number =>
    decoder.decode(bytes.subarray(0, typeof count === "number" ? Math.max(0, count) : 0)).length;
  const start = Math.min(characters(startIndex), text.length);
  if (typeof said === "string" && said !== "" && !text.startsWith(said, start)) {
    const at = text.indexOf(said);
    if (at !== -1) return { start: at, end: at + said.length };
  }
  return { start, end: Math.max(start, Math.min(characters(endIndex), text.length)) };
}

function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
