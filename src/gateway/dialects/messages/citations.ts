import * as z from "zod";
import type { Citation } from "../../../core/conversation/sources.ts";
import type { AnswerInfo } from "../../generation/generation-job.ts";

/**
 * Builds the citations of a text, for callers that requested a web search. If the quoted text of the page is
 * unknown, `cited_text` is the passage of the answer that cites it.
 */
export function toCitations(
  citations: readonly Citation[],
  { conversation }: AnswerInfo,
): Record<string, unknown>[] {
  if (conversation.webSearch === undefined) return [];
  return citations.map(({ url, title, claim, quoted }) => ({
    type: "web_search_result_location",
    url,
    title,
    encrypted_index: "",
    cited_text: quoted ?? claim.text,
  }));
}

/** Schema of one entry that {@link toCitations} returns. */
export const citationSchema = () =>
  z.object({
    type: z.literal("web_search_result_location"),
    url: z.string(),
    title: z.string(),
    encrypted_index: z.string(),
    cited_text: z.string(),
  });
