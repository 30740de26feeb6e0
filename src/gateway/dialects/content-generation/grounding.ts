import * as z from "zod";
import type { Sources } from "../../../core/conversation/sources.ts";

const encoder = new TextEncoder();

/**
 * Builds `groundingMetadata`: the sources of the answer. Segment indexes count bytes of UTF-8. `text` is the whole answer
 * text.
 */
export function groundingMetadata(
  { queries, found: results, citations }: Sources,
  text: string,
): Record<string, unknown> {
  const indexByUrl = new Map(results.map(({ url }, index) => [url, index]));
  const bytes = (end: number): number => encoder.encode(text.slice(0, end)).byteLength;
  return {
    webSearchQueries: queries,
    groundingChunks: results.map(({ url, title }) => ({ web: { uri: url, title } })),
    groundingSupports: citations.map(({ url, claim }) => ({
      segment: {
        startIndex: bytes(claim.start),
        endIndex: bytes(claim.start + claim.text.length),
        text: claim.text,
      },
      groundingChunkIndices: [indexByUrl.get(url) ?? 0],
    })),
  };
}

/** Schema of the result of {@link groundingMetadata}. */
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
