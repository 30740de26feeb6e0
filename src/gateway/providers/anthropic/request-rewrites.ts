import type { FieldRule } from "../refused-fields/field-rules.ts";
import {
  anyPattern,
  fieldRejectionPattern,
  sentencePattern,
  unavailablePattern,
} from "../refused-fields/rejection-patterns.ts";
import { toEffort } from "../requests/thinking-budget.ts";

import { usesCacheControl, withoutCacheControl } from "./cache-control.ts";
import { getMaxThinkingTokens } from "./token-allocation.ts";
import type { WireBlock, WireMessage, WireRequest, WireTool, WireWebSearch } from "./wire.ts";

const CONTINUE_MESSAGE: WireMessage = {
  role: "user",
  content: [
    { type: "text", text: "Continue your answer exactly where it ends, without repeating anything of it." },
  ],
};

const DISABLED = { type: "disabled" } as const;

/** The model's `max_tokens` limit, read from its rejection of a larger value; Infinity: not stated. */
function maxTokensFrom(rejection: string): number {
  return Number(/max_tokens: \d+ > (\d+)/.exec(rejection)?.[1] ?? Number.POSITIVE_INFINITY);
}

/** Newer models accept no thinking budget: they decide how much they think. They take an effort instead. */
const THINKING_BUDGET: FieldRule<WireRequest> = {
  name: "thinking.budget_tokens",
  isUnreported: true,
  rejectionPattern: /thinking\.type\.enabled/,
  isPresent: ({ thinking }) => thinking?.type === "enabled",
  remove: ({ thinking, ...rest }) => ({
    ...rest,
    thinking: { type: "adaptive", display: "summarized" },
    ...(thinking?.type === "enabled" ? { output_config: { effort: toEffort(thinking.budget_tokens) } } : {}),
  }),
};

type Change = Pick<FieldRule<WireRequest>, "name" | "isPresent" | "remove">;

/** The end user's id. */
const METADATA: Change = {
  name: "metadata",
  isPresent: (request) => request.metadata !== undefined,
  remove: ({ metadata: _, ...rest }) => rest,
};

/** The server's own web search. */
const SEARCH: Change = {
  name: "tools.web_search",
  isPresent: ({ tools = [] }) => tools.some(isSearch),
  remove: ({ tools = [], tool_choice: choice, ...rest }) => {
    const otherTools = tools.filter((tool) => !isSearch(tool));
    if (otherTools.length === 0) return rest;
    return { ...rest, tools: otherTools, ...(choice === undefined ? {} : { tool_choice: choice }) };
  },
};

/**
 * Changes to requests for models that refuse a field which the table of optional members cannot simply leave out. Models
 * differ by generation, and compatible servers differ from all of them. The patterns match the error messages of the
 * protocol's own service.
 */
export const REQUEST_REWRITES: readonly FieldRule<WireRequest>[] = [
  THINKING_BUDGET,
  {
    name: "messages.thinking",
    // Accounts of one pool may have different owners, and a backend may reject what it issued to another owner.
    rejectionPattern: anyPattern(
      /(?:invalid|corrupted) [`'"\\]*signature|signature[`'"\\]* (?:(?:is|was) )?(?:not valid|invalid|corrupted)/,
      sentencePattern("signature", "could not be (?:verified|decrypted)"),
    ),
    isPresent: ({ messages }) => messages.some(({ content }) => content.some(isThinkingBlock)),
    remove: withoutThinkingBlocks,
    isTransient: true,
  },
  {
    name: "thinking",
    // The model cannot think, or the server does not know the field.
    rejectionPattern: unavailablePattern('thinking(?:\\.type\\.adaptive\\\\?")?'),
    isPresent: ({ thinking }) => thinking !== undefined && thinking.type !== "disabled",
    remove: ({ thinking: _, ...rest }) => rest,
  },
  {
    name: "thinking",
    isUnreported: true,
    // The same two cases, or a model whose thinking cannot be disabled.
    rejectionPattern: anyPattern(
      fieldRejectionPattern("thinking"),
      /thinking\.type\.disabled/,
      sentencePattern("thinking", "expected tags|cannot be (?:disabled|turned)"),
    ),
    isPresent: ({ thinking }) => thinking?.type === "disabled",
    remove: ({ thinking: _, ...rest }) => rest,
  },
  {
    name: "output_config",
    rejectionPattern: unavailablePattern("(?:output_config|effort)"),
    isPresent: (request) => request.output_config !== undefined,
    remove: ({ output_config: _, ...rest }) => rest,
  },
  {
    // A rejected user id says nothing about other user ids, so the rejection is not remembered.
    rejectionPattern: /metadata/,
    ...METADATA,
    isTransient: true,
  },
  {
    name: "cache_control",
    // Without the prompt cache the request only costs more.
    rejectionPattern: unavailablePattern("cache_control(?:\\.\\w{1,40}(?!\\w)){0,3}"),
    isPresent: usesCacheControl,
    remove: withoutCacheControl,
  },
  {
    name: "tool_choice",
    rejectionPattern: anyPattern(
      /forces tool use/,
      sentencePattern("tool_choice|forced tool", "not support", '".'),
    ),
    isPresent: ({ tool_choice: choice }) => choice?.type === "any" || choice?.type === "tool",
    remove: ({ tool_choice: choice, ...rest }) => {
      const { name: _, ...otherFields } = choice ?? {};
      return { ...rest, tool_choice: { ...otherFields, type: "auto" } };
    },
  },
  {
    // A server without its own web search may complain that the tool lacks an `input_schema`.
    rejectionPattern: anyPattern(
      fieldRejectionPattern("web[ _]search\\w*"),
      /tools\.\d+(?:\.\w+)?\.input_schema\W{1,3}field required/,
    ),
    ...SEARCH,
  },
  {
    // The schema of another tool may be the cause, so the rejection is not remembered.
    rejectionPattern: /web[ _]search|tools\.\d(?:(?!tools\.\d)\S)*input_schema/i,
    ...SEARCH,
    isTransient: true,
  },
  {
    name: "messages",
    isUnreported: true,
    rejectionPattern: fieldRejectionPattern("prefill(?:ing)?"),
    isPresent: ({ messages }) => messages.at(-1)?.role === "assistant",
    remove: (request) => ({ ...request, messages: [...request.messages, CONTINUE_MESSAGE] }),
  },
  {
    name: "max_tokens",
    isUnreported: true,
    rejectionPattern: /max_tokens: \d+ > \d+/,
    isPresent: ({ max_tokens: limit }, rejection) => limit > maxTokensFrom(rejection),
    remove: ({ thinking, ...request }, rejection) => {
      const limit = maxTokensFrom(rejection);
      const shorter = { ...request, max_tokens: limit };
      if (thinking?.type !== "enabled") return thinking === undefined ? shorter : { ...shorter, thinking };
      const budget = Math.min(thinking.budget_tokens, getMaxThinkingTokens(limit));
      return { ...shorter, thinking: budget === 0 ? DISABLED : { ...thinking, budget_tokens: budget } };
    },
  },
];

/**
 * Removes all thinking blocks. During tool use the model cannot continue to think without them, so thinking is then
 * disabled.
 */
function withoutThinkingBlocks(request: WireRequest): WireRequest {
  const messages = request.messages.map(({ role, content }) => ({
    role,
    content: content.filter((block) => !isThinkingBlock(block)),
  }));
  const works = request.messages.at(-1)?.content.some(({ type }) => type === "tool_result") ?? false;
  const thinks = request.thinking?.type === "enabled";
  return { ...request, messages, ...(works && thinks ? { thinking: DISABLED } : {}) };
}

function isThinkingBlock({ type }: WireBlock): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

function isSearch(tool: WireTool | WireWebSearch): tool is WireWebSearch {
  return "type" in tool;
}
