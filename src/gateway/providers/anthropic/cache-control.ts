import type { CacheBreakpoint } from "../../../core/conversation/cache-breakpoint.ts";
import type { WireBlock, WireCacheControl, WireRequest } from "./wire.ts";

/** The `cache_control` field for a cache mark; no field without a mark. */
export function cacheControl(breakpoint: CacheBreakpoint | undefined): {
  readonly cache_control?: WireCacheControl;
} {
  if (breakpoint === undefined) return {};
  const { ttl } = breakpoint;
  return { cache_control: { type: "ephemeral", ...(ttl === undefined ? {} : { ttl }) } };
}

/** Whether any part of a request has `cache_control`. */
export function usesCacheControl({
  cache_control: breakpoint,
  system = "",
  tools = [],
  messages,
}: WireRequest): boolean {
  const marked = (block: object): boolean => "cache_control" in block;
  return (
    breakpoint !== undefined ||
    (typeof system !== "string" && system.some(marked)) ||
    tools.some(marked) ||
    messages.some(({ content }) => content.some(marked))
  );
}

/** The request without any `cache_control`. */
export function withoutCacheControl({ cache_control: _, ...request }: WireRequest): WireRequest {
  const { system, tools, messages } = request;
  return {
    ...request,
    ...(system === undefined
      ? {}
      : { system: typeof system === "string" ? system : system.map(dropCacheControl) }),
    ...(tools === undefined ? {} : { tools: tools.map(dropCacheControl) }),
    messages: messages.map((message) => ({
      ...message,
      content: message.content.map(dropBlockCacheControl),
    })),
  };
}

function dropBlockCacheControl(block: WireBlock): WireBlock {
  const plain = dropCacheControl(block);
  if (plain.type !== "tool_result" || plain.content === undefined) return plain;
  return { ...plain, content: plain.content.map(dropCacheControl) };
}

/** The object without its own `cache_control`. */
function dropCacheControl<T extends object>(marked: T): T {
  if (!("cache_control" in marked)) return marked;
  const plain = { ...marked };
  delete plain.cache_control;
  return plain;
}
