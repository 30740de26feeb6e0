import type { CacheMark } from "../../conversation/cache-mark.ts";
import type { WireBlock, WireCache, WireRequest } from "./wire.ts";

/** The `cache_control` field for a cache mark; no field without a mark. */
export function cacheControl(mark: CacheMark | undefined): { readonly cache_control?: WireCache } {
  if (mark === undefined) return {};
  const { ttl } = mark;
  return { cache_control: { type: "ephemeral", ...(ttl === undefined ? {} : { ttl }) } };
}

/** Whether any part of a request has `cache_control`. */
export function isMarked({ cache_control: mark, system = "", tools = [], messages }: WireRequest): boolean {
  const marked = (one: object): boolean => "cache_control" in one;
  return (
    mark !== undefined ||
    (typeof system !== "string" && system.some(marked)) ||
    tools.some(marked) ||
    messages.some(({ content }) => content.some(marked))
  );
}

/** The request without any `cache_control`. */
export function withoutCache({ cache_control: _, ...request }: WireRequest): WireRequest {
  const { system, tools, messages } = request;
  return {
    ...request,
    ...(system === undefined ? {} : { system: typeof system === "string" ? system : system.map(unmarked) }),
    ...(tools === undefined ? {} : { tools: tools.map(unmarked) }),
    messages: messages.map((message) => ({ ...message, content: message.content.map(unmarkedBlock) })),
  };
}

function unmarkedBlock(block: WireBlock): WireBlock {
  const plain = unmarked(block);
  if (plain.type !== "tool_result" || plain.content === undefined) return plain;
  return { ...plain, content: plain.content.map(unmarked) };
}

/** The object without its own `cache_control`. */
function unmarked<T extends object>(marked: T): T {
  if (!("cache_control" in marked)) return marked;
  const plain = { ...marked };
  delete plain.cache_control;
  return plain;
}
