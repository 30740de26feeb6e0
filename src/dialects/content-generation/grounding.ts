import * as z from "zod";
import type { Sources } from "../../conversation/sources.ts";

const encoder = new TextEncoder();

/** What the answer rests on, as this style tells it. Segments count bytes of UTF-8. `text` is the answer's whole text. */
export function groundingMetadata({ found, citations }: Sources, text: string): Record<string, unknown> {
  const places = new Map(found.map(({ url }, index) => [url, index]));
  const bytes = (end: number): number => encoder.encode(text.slice(0, end)).byteLength;
  return {
    webSearchQueries: [],
    groundingChunks: found.map(({ url, title }) => ({ web: { uri: url, title } })),
    groundingSupports: citations.map(({ url, claim }) => ({
      segment: {
        startIndex: bytes(claim.start),
        endIndex: bytes(claim.start + claim.text.length),
        text: claim.text,
      },
      groundingChunkIndices: [places.get(url) ?? 0],
    })),
  };
}

/** What {@link groundingMetadata} makes. */
export const groundingSchema = () =>
  z.object({
    webSearchQueries: z.array(z.string()),
    groundingChunks: z.array(z.object({ web: z.object({ uri: z.string(), title: z.string() }) })),
    groundingSupports: z.array(
      z.object({
        segment: z.object({ startIndex: z.int(), endIndex: z.int(), text: z.string() }),
        groundingChunkIndices: z.array(z.int()),
      }),
    ),
  });
