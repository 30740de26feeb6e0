import * as z from "zod";
import type { Completion } from "../../conversation/events.ts";
import type { AnswerInfo } from "../../generation/job.ts";

/**
 * The places in the text that refer to pages, for callers that ask for a web search. Where it is not known what a
 * page says there, `cited_text` is what it is cited for.
 */
export function citationsOf(
  { sources }: Pick<Completion, "sources">,
  { conversation }: AnswerInfo,
): Record<string, unknown>[] {
  if (conversation.webSearch === undefined) return [];
  return (sources?.citations ?? []).map(({ url, title, claim, quoted }) => ({
    type: "web_search_result_location",
    url,
    title,
    encrypted_index: "",
    cited_text: quoted ?? claim.text,
  }));
}

/** What {@link citationsOf} makes. */
export const citationSchema = () =>
  z.object({
    type: z.literal("web_search_result_location"),
    url: z.string(),
    title: z.string(),
    encrypted_index: z.string(),
    cited_text: z.string(),
  });
