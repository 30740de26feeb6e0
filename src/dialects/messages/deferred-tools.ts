import type * as z from "zod";
import { isObject } from "../../encoding/json.ts";
import type { Content } from "./content.ts";
import type { toolChoiceSchema, toolSchema } from "./tools.ts";

type Tool = z.output<typeof toolSchema>;

/**
 * The names of tools that the model is not told of. It learns of one with `defer_loading` only when a tool's result refers to
 * it: the caller searches. The vendor's own search cannot be run here, so with it all tools are told; and so are those that
 * were called before or have to be called now, or without which there would be none (client assertion 33).
 */
export function deferredTools(
  tools: readonly Tool[],
  messages: readonly { readonly content?: Content }[],
  choice: z.output<ReturnType<typeof toolChoiceSchema>> | null | undefined,
): ReadonlySet<unknown> {
  const isDeferred = (tool: Tool) => tool["defer_loading"] === true;
  const deferred = new Set<unknown>(tools.filter(isDeferred).map(({ name }) => name));
  if (deferred.size === 0 || tools.every(isDeferred)) return new Set();
  if (tools.some(({ type }) => type?.startsWith("tool_search_tool_") === true)) return new Set();
  for (const name of knownTools(messages)) deferred.delete(name);
  if (typeof choice === "object") deferred.delete(choice?.name ?? choice?.function?.name);
  return deferred;
}

/** The names that results refer to, and those of the calls. */
function knownTools(messages: readonly { readonly content?: Content }[]): Set<unknown> {
  const names = new Set<unknown>();
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue;
    for (const block of content) {
      if (block.type === "tool_use") names.add(block["name"]);
      if (!Array.isArray(block["content"])) continue;
      for (const part of block["content"]) {
        if (isObject(part) && part["type"] === "tool_reference") names.add(part["tool_name"]);
      }
    }
  }
  return names;
}
