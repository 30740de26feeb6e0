import type * as z from "zod";
import { isObject } from "../../../core/encoding/json.ts";
import type { Content } from "./content.ts";
import type { toolChoiceSchema, toolSchema } from "./tools.ts";

type Tool = z.output<typeof toolSchema>;

/**
 * Returns the names of the tools to hide from the model. A tool with `defer_loading` stays hidden until the result of
 * another tool refers to it, because the caller does the search (docs/clients.md, assertion 33). Tools that were called
 * before or that `tool_choice` forces are never hidden. If all tools are deferred, or if the vendor's own search tool
 * is declared (the gateway cannot run it), no tool is hidden.
 */
export function findDeferredTools(
  tools: readonly Tool[],
  messages: readonly { readonly content?: Content }[],
  choice: z.output<ReturnType<typeof toolChoiceSchema>> | null | undefined,
): ReadonlySet<unknown> {
  const isDeferred = (tool: Tool) => tool["defer_loading"] === true;
  const deferred = new Set<unknown>(tools.filter(isDeferred).map(({ name }) => name));
  if (deferred.size === 0 || tools.every(isDeferred)) return new Set();
  if (tools.some(({ type }) => type?.startsWith("tool_search_tool_") === true)) return new Set();
  for (const name of findKnownTools(messages)) deferred.delete(name);
  if (typeof choice === "object") deferred.delete(choice?.name ?? choice?.function?.name);
  return deferred;
}

/** Returns the names of all tools that were called or that tool results refer to. */
function findKnownTools(messages: readonly { readonly content?: Content }[]): Set<unknown> {
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
