import { effortFor } from "../effort.ts";
import { either, refused as namedAsRefused, type OptionalField, sentence } from "../optional-fields.ts";

import { isMarked, withoutCache } from "./cache.ts";
import { thinkingShare } from "./thinking.ts";
import type { WireBlock, WireMessage, WireRequest, WireSearch, WireTool } from "./wire.ts";

const CONTINUE: WireMessage = {
  role: "user",
  content: [
    { type: "text", text: "Continue your answer exactly where it ends, without repeating anything of it." },
  ],
};

const REFUSED =
  "not (?:be )?(?:support|permit|allow)|unsupported|unknown|unexpected|unrecogni[sz]ed|deprecated|may only|expected tags";

/** Builds a pattern for a sentence which says that a feature is unavailable. `name` is a regular expression. */
function refused(name: string): RegExp {
  return either(sentence(name, `\\b(?:${REFUSED})`, '".'), sentence(REFUSED, name, '".'));
}

const DISABLED = { type: "disabled" } as const;

/** The model's `max_tokens` limit, read from its refusal of a larger value; Infinity: not stated. */
function longest(refusal: string): number {
  return Number(/max_tokens: \d+ > (\d+)/.exec(refusal)?.[1] ?? Number.POSITIVE_INFINITY);
}

/** Newer models accept no thinking budget: they decide how much they think. They take an effort instead. */
export const BUDGET: OptionalField<WireRequest> = {
  named: /thinking\.type\.enabled/,
  present: ({ thinking }) => thinking?.type === "enabled",
  without: ({ thinking, ...rest }) => ({
    ...rest,
    thinking: { type: "adaptive", display: "summarized" },
    ...(thinking?.type === "enabled" ? { output_config: { effort: effortFor(thinking.budget_tokens) } } : {}),
  }),
};

type Change = Pick<OptionalField<WireRequest>, "present" | "without">;

/** The end user's id. */
const METADATA: Change = {
  present: (request) => request.metadata !== undefined,
  without: ({ metadata: _, ...rest }) => rest,
};

/** The server's own web search. */
const SEARCH: Change = {
  present: ({ tools = [] }) => tools.some(isSearch),
  without: ({ tools = [], tool_choice: choice, ...rest }) => {
    const others = tools.filter((tool) => !isSearch(tool));
    if (others.length === 0) return rest;
    return { ...rest, tools: others, ...(choice === undefined ? {} : { tool_choice: choice }) };
  },
};

/**
 * Fields that not every model supports. Models differ by generation, and compatible servers differ from all of them. The
 * patterns match the error messages of the protocol's own service.
 */
export const OPTIONAL_FIELDS: readonly OptionalField<WireRequest>[] = [
  BUDGET,
  {
    // Accounts of one pool may have different owners, and a backend may reject what it issued to another owner.
    named: either(
      /(?:invalid|corrupted) [`'"\\]*signature|signature[`'"\\]* (?:(?:is|was) )?(?:not valid|invalid|corrupted)/,
      sentence("signature", "could not be (?:verified|decrypted)"),
    ),
    present: ({ messages }) => messages.some(({ content }) => content.some(isThought)),
    without: withoutThoughts,
    passing: true,
  },
  {
    // The model cannot think, or the server does not know the field.
    named: refused('thinking(?:\\.type\\.adaptive\\\\?")?'),
    present: ({ thinking }) => thinking !== undefined && thinking.type !== "disabled",
    without: ({ thinking: _, ...rest }) => rest,
  },
  {
    // The same two cases, or a model whose thinking cannot be disabled.
    named: either(
      namedAsRefused("thinking"),
      /thinking\.type\.disabled/,
      sentence("thinking", "expected tags|cannot be (?:disabled|turned)"),
    ),
    present: ({ thinking }) => thinking?.type === "disabled",
    without: ({ thinking: _, ...rest }) => rest,
  },
  {
    named: refused("(?:output_config|effort)"),
    present: (request) => request.output_config !== undefined,
    without: ({ output_config: _, ...rest }) => rest,
  },
  {
    named: refused("temperature"),
    present: (request) => request.temperature !== undefined,
    without: ({ temperature: _, ...rest }) => rest,
  },
  {
    named: refused("top_k"),
    present: (request) => request.top_k !== undefined,
    without: ({ top_k: _, ...rest }) => rest,
  },
  {
    // The user id does not affect the answer.
    named: namedAsRefused("metadata(?:\\.user_id)?"),
    ...METADATA,
  },
  {
    // A rejected user id says nothing about other user ids, so the refusal is not remembered.
    named: /metadata/,
    ...METADATA,
    passing: true,
  },
  {
    // Without the prompt cache the request only costs more.
    named: refused("cache_control(?:\\.\\w{1,40}(?!\\w)){0,3}"),
    present: isMarked,
    without: withoutCache,
  },
  {
    named: refused("top_p"),
    present: (request) => request.top_p !== undefined,
    without: ({ top_p: _, ...rest }) => rest,
  },
  {
    named: either(/forces tool use/, sentence("tool_choice|forced tool", "not support", '".')),
    present: ({ tool_choice: choice }) => choice?.type === "any" || choice?.type === "tool",
    without: ({ tool_choice: choice, ...rest }) => {
      const { name: _, ...others } = choice ?? {};
      return { ...rest, tool_choice: { ...others, type: "auto" } };
    },
  },
  {
    named: refused("strict"),
    present: ({ tools }) => tools?.some((tool) => "strict" in tool) ?? false,
    without: (request) => ({ ...request, tools: (request.tools ?? []).map(withoutStrict) }),
  },
  {
    // A server without its own web search may complain that the tool lacks an `input_schema`.
    named: either(
      namedAsRefused("web[ _]search\\w*"),
      /tools\.\d+(?:\.\w+)?\.input_schema\W{1,3}field required/,
    ),
    ...SEARCH,
  },
  {
    // The schema of another tool may be the cause, so the refusal is not remembered.
    named: /web[ _]search|tools\.\d(?:(?!tools\.\d)\S)*input_schema/i,
    ...SEARCH,
    passing: true,
  },
  {
    named: namedAsRefused("prefill(?:ing)?"),
    present: ({ messages }) => messages.at(-1)?.role === "assistant",
    without: (request) => ({ ...request, messages: [...request.messages, CONTINUE] }),
  },
  {
    named: /max_tokens: \d+ > \d+/,
    present: ({ max_tokens: limit }, refusal) => limit > longest(refusal),
    without: ({ thinking, ...request }, refusal) => {
      const limit = longest(refusal);
      const shorter = { ...request, max_tokens: limit };
      if (thinking?.type !== "enabled") return thinking === undefined ? shorter : { ...shorter, thinking };
      const budget = Math.min(thinking.budget_tokens, thinkingShare(limit));
      return { ...shorter, thinking: budget === 0 ? DISABLED : { ...thinking, budget_tokens: budget } };
    },
  },
];

/**
 * Removes all thinking blocks. During tool use the model cannot continue to think without them, so thinking is then
 * disabled.
 */
function withoutThoughts(request: WireRequest): WireRequest {
  const messages = request.messages.map(({ role, content }) => ({
    role,
    content: content.filter((block) => !isThought(block)),
  }));
  const works = request.messages.at(-1)?.content.some(({ type }) => type === "tool_result") ?? false;
  const thinks = request.thinking?.type === "enabled";
  return { ...request, messages, ...(works && thinks ? { thinking: DISABLED } : {}) };
}

function isThought({ type }: WireBlock): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

function isSearch(tool: WireTool | WireSearch): tool is WireSearch {
  return "type" in tool;
}

function withoutStrict(tool: WireTool | WireSearch): WireTool | WireSearch {
  if (isSearch(tool)) return tool;
  const { strict: _, ...rest } = tool;
  return rest;
}
