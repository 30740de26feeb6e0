import * as z from "zod";
import { randomId } from "../../../core/conversation/ids.ts";
import type { Sources } from "../../../core/conversation/sources.ts";
import { namedItem } from "../../../core/http/event-stream.ts";
import type { AnswerInfo } from "../../generation/generation-job.ts";

const DIRECT = { type: "direct" } as const;

/** A search of the provider: a call with its query, and its result. */
interface SearchCall {
  readonly type: "server_tool_use";
  readonly id: string;
  readonly name: "web_search";
  readonly input: { readonly query?: string };
  readonly caller: typeof DIRECT;
}

interface SearchResult {
  readonly type: "web_search_tool_result";
  readonly tool_use_id: string;
  readonly content: readonly object[];
  readonly caller: typeof DIRECT;
}

/**
 * Builds the blocks of the provider's searches, for callers that requested a web search. Providers do not state which search
 * found a page, so all pages are in the last result.
 */
export function toSearchBlocks(
  sources: Sources | undefined,
  { conversation }: AnswerInfo,
): (SearchCall | SearchResult)[] {
  if (sources === undefined || conversation.webSearch === undefined) return [];
  const { queries, found } = sources;
  const inputs = queries.length > 0 ? queries.map((query) => ({ query })) : found.length > 0 ? [{}] : [];
  return inputs.flatMap((input, index) => {
    const id = randomId("srvtoolu_");
    const pages = index === inputs.length - 1 ? found : [];
    const content = pages.map(({ url, title }) => ({
      type: "web_search_result",
      url,
      title,
      encrypted_content: "",
      page_age: null,
    }));
    return [
      { type: "server_tool_use", id, name: "web_search", input, caller: DIRECT } as const,
      { type: "web_search_tool_result", tool_use_id: id, content, caller: DIRECT } as const,
    ];
  });
}

/** Renders the blocks of searches as events. `firstIndex` is the index of the first block. */
export function renderSearchBlocks(blocks: ReturnType<typeof toSearchBlocks>, firstIndex: number): string {
  return blocks
    .map((block, position) => {
      const index = firstIndex + position;
      const write = (type: string, fields: object) =>
        namedItem(type, JSON.stringify({ type, index, ...fields }));
      const stop = write("content_block_stop", {});
      if (block.type === "web_search_tool_result")
        return write("content_block_start", { content_block: block }) + stop;
      const delta = { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
      const start = write("content_block_start", { content_block: { ...block, input: {} } });
      return start + write("content_block_delta", { delta }) + stop;
    })
    .join("");
}

/** Schemas of the blocks that {@link toSearchBlocks} returns. */
export const searchBlockSchemas = () => {
  const caller = z.object({ type: z.literal("direct") });
  const page = z.object({
    type: z.literal("web_search_result"),
    url: z.string(),
    title: z.string(),
    encrypted_content: z.string(),
    page_age: z.null(),
  });
  return [
    z.object({
      type: z.literal("server_tool_use"),
      id: z.string(),
      name: z.literal("web_search"),
      input: z.object({ query: z.string().optional() }),
      caller,
    }),
    z.object({
      type: z.literal("web_search_tool_result"),
      tool_use_id: z.string(),
      content: z.array(page),
      caller,
    }),
  ] as const;
};
