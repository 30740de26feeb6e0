import { either, hints, type OptionalField, refused, sentence } from "../optional-fields.ts";
import type { WireItem, WirePart, WireRequest, WireResult, WireSearch, WireTool } from "./wire.ts";

/** Value of `include`: the model's encrypted reasoning, which later requests send back. */
export const SEALED_THOUGHTS = "reasoning.encrypted_content";

/** Value of `include`: the pages that a search found. */
export const FOUND_PAGES = "web_search_call.action.sources";

/** Value of `include`: the log probabilities of the answer. */
export const LOGPROBS = "message.output_text.logprobs";

const HINTS = hints<WireRequest>([
  "temperature",
  "top_p",
  "presence_penalty",
  "frequency_penalty",
  "user",
  "prompt_cache_key",
  "parallel_tool_calls",
  "store",
]);

/** The lowest effort that the refusal of "none" offers; null: it offers neither `minimal` nor `low`. */
function leastEffort(refusal: string): "minimal" | "low" | null {
  const offered = /supported values are:?([^.]*)/i.exec(refusal)?.[1] ?? "";
  if (/\bminimal\b/.test(offered)) return "minimal";
  return /\blow\b/.test(offered) ? "low" : null;
}

/** The minimum of `max_output_tokens`, read from the refusal of a smaller value; 0: not stated. */
function shortest(refusal: string): number {
  return Number(/>=\s*(\d+)|at least\s+(\d+)/.exec(refusal)?.slice(1).find(Boolean) ?? 0);
}

/** Recognizes encrypted reasoning that was made for an account of another organization, or by another backend. */
const UNREADABLE = either(/invalid_encrypted_content/, sentence("encrypted content", "could not be"));

/** Fields that not every backend or model supports. */
export const OPTIONAL_FIELDS: readonly OptionalField<WireRequest>[] = [
  ...HINTS,
  {
    named: refused("(?:text\\.)?verbosity"),
    present: ({ text }) => text?.verbosity !== undefined,
    without: ({ text, ...rest }) => ({ ...rest, ...(text?.format ? { text: { format: text.format } } : {}) }),
  },
  {
    // A model that does not think has no reasoning to encrypt, and an engine may not support encryption.
    named: refused("(?:[\\w.]{0,80}encrypted[ _]content|include)"),
    present: ({ include = [] }, refusal) => include.includes(SEALED_THOUGHTS) && !UNREADABLE.test(refusal),
    without: (request) => withoutIncluded(request, SEALED_THOUGHTS),
  },
  {
    // Accounts of one pool may have different owners, and a backend may reject what it issued to another owner.
    named: UNREADABLE,
    present: ({ input }) => input.some(({ type }) => type === "reasoning"),
    without: ({ input, ...rest }) => ({ ...rest, input: input.filter(({ type }) => type !== "reasoning") }),
    passing: true,
  },
  {
    named: refused("(?:web_search_call[\\w.]{0,80}|include)"),
    present: ({ include = [] }) => include.includes(FOUND_PAGES),
    without: (request) => withoutIncluded(request, FOUND_PAGES),
  },
  {
    // The API gives no summaries to organizations that are not verified.
    named: either(refused("reasoning[. ]summar(?:y|ies)"), sentence("verified", "reasoning[. ]summar")),
    present: ({ reasoning }) => reasoning?.summary !== undefined,
    without: ({ reasoning, ...rest }) => ({
      ...rest,
      ...(reasoning?.effort === undefined ? {} : { reasoning: { effort: reasoning.effort } }),
    }),
  },
  {
    // A model that always thinks gets the lowest effort that it offers.
    named: either(sentence("none", "not supported"), /unsupported value:? ['"`]?none|reasoning\.effort/),
    present: ({ reasoning }, refusal) => reasoning?.effort === "none" && leastEffort(refusal) !== null,
    without: ({ reasoning: _, ...rest }, refusal) => ({
      ...rest,
      reasoning: { effort: leastEffort(refusal) ?? "low" },
    }),
  },
  {
    // The model cannot think, or the server does not know the field. If only the effort is wrong, the caller must
    // correct it.
    named: refused("reasoning(?:[._]effort)?(?!\\.summary)"),
    present: ({ reasoning }, refusal) =>
      reasoning !== undefined &&
      (reasoning.effort === "none" || !/unsupported value|invalid value/i.test(refusal)),
    without: ({ reasoning: _, ...rest }) => rest,
  },
  {
    // A model that cannot search answers from its own knowledge.
    named: refused("web[ _]search\\w*"),
    present: ({ tools = [] }, refusal) => tools.some(isSearch) && !/web_search_call/i.test(refusal),
    without: ({ tools = [], tool_choice: choice, ...rest }) => {
      const others = tools.filter((tool) => !isSearch(tool));
      if (others.length === 0) return rest;
      return { ...rest, tools: others, ...(choice === undefined ? {} : { tool_choice: choice }) };
    },
  },
  {
    // The prompt also describes the schema, and a whole answer is validated against it.
    named: refused("(?:text\\.format|json_schema)"),
    present: ({ text }) => text?.format?.type === "json_schema",
    without: (request) => ({ ...request, text: { ...request.text, format: { type: "json_object" } } }),
  },
  {
    named: refused("(?:text\\.format|json_object)"),
    present: ({ text }) => text?.format?.type === "json_object",
    without: ({ text, ...rest }) => ({
      ...rest,
      ...(text?.verbosity === undefined ? {} : { text: { verbosity: text.verbosity } }),
    }),
  },
  {
    named: refused("(?:tools\\[\\d+\\]\\.)?strict"),
    present: ({ tools = [] }) => tools.some((tool) => !isSearch(tool) && tool.strict !== undefined),
    without: ({ tools = [], ...rest }) => ({ ...rest, tools: tools.map(withoutStrict) }),
  },
  {
    // The public API has a minimum. A caller with a smaller limit wants a cheap answer, so the minimum is sent.
    named: /max_output_tokens/,
    present: ({ max_output_tokens: limit }, refusal) => limit !== undefined && limit < shortest(refusal),
    without: (request, refusal) => ({ ...request, max_output_tokens: shortest(refusal) }),
  },
  {
    // Some engines accept results only as text. Other content of a tool result is then sent as a user message.
    named: either(
      refused("output"),
      /input\[\d{1,6}\]\.output|function_call_output|\boutput\b[^.]{0,80}string|string[^.]{0,80}\boutput\b/,
    ),
    present: ({ input }) => input.some(isInParts),
    without: ({ input, ...rest }) => ({ ...rest, input: textResults(input) }),
  },
];

function withoutIncluded({ include = [], ...rest }: WireRequest, name: string): WireRequest {
  const others = include.filter((included) => included !== name);
  return others.length === 0 ? rest : { ...rest, include: others };
}

function isSearch(tool: WireTool | WireSearch): tool is WireSearch {
  return tool.type === "web_search";
}

function withoutStrict(tool: WireTool | WireSearch): WireTool | WireSearch {
  if (isSearch(tool)) return tool;
  const { strict: _, ...rest } = tool;
  return rest;
}

function isInParts(item: WireItem): item is WireResult & { readonly output: readonly WirePart[] } {
  return item.type === "function_call_output" && typeof item.output !== "string";
}

/** Converts results to text. After each series of results, a user message carries their other content. */
function textResults(input: readonly WireItem[]): readonly WireItem[] {
  const items: WireItem[] = [];
  let carried: WirePart[] = [];
  const flush = () => {
    if (carried.length > 0) items.push({ type: "message", role: "user", content: carried });
    carried = [];
  };
  for (const item of input) {
    if (item.type !== "function_call_output") flush();
    if (!isInParts(item)) {
      items.push(item);
      continue;
    }
    const { call_id: id, output } = item;
    const text = output.flatMap((part) => (part.type === "input_text" ? [part.text] : [])).join("\n\n");
    items.push({ ...item, output: text });
    const attached = output.filter((part) => part.type !== "input_text");
    carried.push({ type: "input_text", text: `Returned by the tool call ${id}:` }, ...attached);
  }
  flush();
  return items;
}
