import * as z from "zod";
import type { Completion } from "../../../core/conversation/events.ts";
import { toUrlCitations } from "../shared/url-citations.ts";

/** Builds `annotations` of a message: the web pages that its text cites. */
export function toAnnotations({ sources }: Pick<Completion, "sources">): Record<string, unknown>[] {
  return toUrlCitations(sources?.citations ?? []).map((citation) => ({
    type: "url_citation",
    url_citation: citation,
  }));
}

/** Schema of one entry that {@link toAnnotations} returns. */
export const annotationSchema = () =>
  z.object({
    type: z.literal("url_citation"),
    url_citation: z.object({
      start_index: z.int(),
      end_index: z.int(),
      title: z.string(),
      url: z.string(),
    }),
  });
