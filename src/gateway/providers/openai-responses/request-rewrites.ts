import type { FieldRule } from "../refused-fields/field-rules.ts";
import { anyPattern, fieldRejectionPattern, sentencePattern } from "../refused-fields/rejection-patterns.ts";
import {
  INCLUDE_ENCRYPTED_REASONING,
  INCLUDE_SEARCH_SOURCES,
  type WireItem,
  type WirePart,
  type WireRequest,
  type WireTool,
  type WireToolResult,
  type WireWebSearch,
} from "./wire.ts";

/** The lowest effort that the rejection of "none" offers; null: it offers neither `minimal` nor `low`. */
function leastEffort(rejection: string): "minimal" | "low" | null {
  const supportedValues = /supported values are:?([^.]*)/i.exec(rejection)?.[1] ?? "";
  if (/\bminimal\b/.test(supportedValues)) return "minimal";
  return /\blow\b/.test(supportedValues) ? "low" : null;
}

/** The minimum of `max_output_tokens`, read from the rejection of a smaller value; 0: not stated. */
function minOutputTokensFrom(rejection: string): number {
  return Number(/>=\s*(\d+)|at least\s+(\d+)/.exec(rejection)?.slice(1).find(Boolean) ?? 0);
}

/** Recognizes encrypted reasoning that was made for an account of another organization, or by another backend. */
const UNREADABLE_REASONING = anyPattern(
  /invalid_encrypted_content/,
  sentencePattern("encrypted content", "could not be"),
);

/** Changes to requests for backends that refuse a field which the table of optional members cannot simply leave out. */
export const REQUEST_REWRITES: readonly FieldRule<WireRequest>[] = [
  {
    name: "include",
    isUnreported: true,
    // A model that does not think has no reasoning to encrypt, and an engine may not support encryption.
    rejectionPattern: fieldRejectionPattern("(?:[\\w.]{0,80}encrypted[ _]content|include)"),
    isPresent: ({ include = [] }, rejection) =>
      include.includes(INCLUDE_ENCRYPTED_REASONING) && !UNREADABLE_REASONING.test(rejection),
    remove: (request) => withoutIncluded(request, INCLUDE_ENCRYPTED_REASONING),
  },
  {
    name: "input",
    // Accounts of one pool may have different owners, and a backend may reject what it issued to another owner.
    rejectionPattern: UNREADABLE_REASONING,
    isPresent: ({ input }) => input.some(({ type }) => type === "reasoning"),
    remove: ({ input, ...rest }) => ({ ...rest, input: input.filter(({ type }) => type !== "reasoning") }),
    isTransient: true,
  },
  {
    name: "include",
    isUnreported: true,
    rejectionPattern: fieldRejectionPattern("(?:web_search_call[\\w.]{0,80}|include)"),
    isPresent: ({ include = [] }) => include.includes(INCLUDE_SEARCH_SOURCES),
    remove: (request) => withoutIncluded(request, INCLUDE_SEARCH_SOURCES),
  },
  {
    name: "reasoning.summary",
    // The API gives no summaries to organizations that are not verified.
    rejectionPattern: anyPattern(
      fieldRejectionPattern("reasoning[. ]summar(?:y|ies)"),
      sentencePattern("verified", "reasoning[. ]summar"),
    ),
    isPresent: ({ reasoning }) => reasoning?.summary !== undefined,
    remove: ({ reasoning, ...rest }) => ({
      ...rest,
      ...(reasoning?.effort === undefined ? {} : { reasoning: { effort: reasoning.effort } }),
    }),
  },
  {
    name: "reasoning.effort",
    isUnreported: true,
    // A model that always thinks gets the lowest effort that it offers.
    rejectionPattern: anyPattern(
      sentencePattern("none", "not supported"),
      /unsupported value:? ['"`]?none|reasoning\.effort/,
    ),
    isPresent: ({ reasoning }, rejection) => reasoning?.effort === "none" && leastEffort(rejection) !== null,
    remove: ({ reasoning: _, ...rest }, rejection) => ({
      ...rest,
      reasoning: { effort: leastEffort(rejection) ?? "low" },
    }),
  },
  {
    name: "reasoning",
    // The model cannot think, or the server does not know the field. If only the effort is wrong, the caller must
    // correct it.
    rejectionPattern: fieldRejectionPattern("reasoning(?:[._]effort)?(?!\\.summary)"),
    isPresent: ({ reasoning }, rejection) =>
      reasoning !== undefined &&
      (reasoning.effort === "none" || !/unsupported value|invalid value/i.test(rejection)),
    remove: ({ reasoning: _, ...rest }) => rest,
  },
  {
    name: "tools.web_search",
    // A model that cannot search answers from its own knowledge.
    rejectionPattern: fieldRejectionPattern("web[ _]search\\w*"),
    isPresent: ({ tools = [] }, rejection) => tools.some(isSearch) && !/web_search_call/i.test(rejection),
    remove: ({ tools = [], tool_choice: choice, ...rest }) => {
      const otherTools = tools.filter((tool) => !isSearch(tool));
      if (otherTools.length === 0) return rest;
      return { ...rest, tools: otherTools, ...(choice === undefined ? {} : { tool_choice: choice }) };
    },
  },
  {
    name: "text.format",
    // The prompt also describes the schema, and a whole answer is validated against it.
    rejectionPattern: fieldRejectionPattern("(?:text\\.format|json_schema)"),
    isPresent: ({ text }) => text?.format?.type === "json_schema",
    remove: (request) => ({ ...request, text: { ...request.text, format: { type: "json_object" } } }),
  },
  {
    name: "text.format",
    rejectionPattern: fieldRejectionPattern("(?:text\\.format|json_object)"),
    isPresent: ({ text }) => text?.format?.type === "json_object",
    remove: ({ text, ...rest }) => ({
      ...rest,
      ...(text?.verbosity === undefined ? {} : { text: { verbosity: text.verbosity } }),
    }),
  },
  {
    name: "max_output_tokens",
    isUnreported: true,
    // The public API has a minimum. A caller with a smaller limit wants a cheap answer, so the minimum is sent.
    rejectionPattern: /max_output_tokens/,
    isPresent: ({ max_output_tokens: limit }, rejection) =>
      limit !== undefined && limit < minOutputTokensFrom(rejection),
    remove: (request, rejection) => ({ ...request, max_output_tokens: minOutputTokensFrom(rejection) }),
  },
  {
    name: "input.output",
    isUnreported: true,
    // Some engines accept results only as text. Other content of a tool result is then sent as a user message.
    rejectionPattern: anyPattern(
      fieldRejectionPattern("output"),
      /input\[\d{1,6}\]\.output|function_call_output|\boutput\b[^.]{0,80}string|string[^.]{0,80}\boutput\b/,
    ),
    isPresent: ({ input }) => input.some(isMultipartResult),
    remove: ({ input, ...rest }) => ({ ...rest, input: withTextResults(input) }),
  },
];

function withoutIncluded({ include = [], ...rest }: WireRequest, name: string): WireRequest {
  const otherIncludes = include.filter((included) => included !== name);
  return otherIncludes.length === 0 ? rest : { ...rest, include: otherIncludes };
}

function isSearch(tool: WireTool | WireWebSearch): tool is WireWebSearch {
  return tool.type === "web_search";
}

function isMultipartResult(
  item: WireItem,
): item is WireToolResult & { readonly output: readonly WirePart[] } {
  return item.type === "function_call_output" && typeof item.output !== "string";
}

/** Converts results to text. After each series of results, a user message carries their other content. */
function withTextResults(input: readonly WireItem[]): readonly WireItem[] {
  const items: WireItem[] = [];
  let pendingParts: WirePart[] = [];
  const flush = () => {
    if (pendingParts.length > 0) items.push({ type: "message", role: "user", content: pendingParts });
    pendingParts = [];
  };
  for (const item of input) {
    if (item.type !== "function_call_output") flush();
    if (!isMultipartResult(item)) {
      items.push(item);
      continue;
    }
    const { call_id: id, output } = item;
    const text = output.flatMap((part) => (part.type === "input_text" ? [part.text] : [])).join("\n\n");
    items.push({ ...item, output: text });
    const attached = output.filter((part) => part.type !== "input_text");
    pendingParts.push({ type: "input_text", text: `Returned by the tool call ${id}:` }, ...attached);
  }
  flush();
  return items;
}
