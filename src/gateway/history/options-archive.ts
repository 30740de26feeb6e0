import type {
  Conversation,
  GenerationOptions,
  ResponseFormat,
} from "../../core/conversation/conversation.ts";
import type { ToolChoice } from "../../core/conversation/tool.ts";
import { isObject } from "../../core/encoding/json.ts";

/** Most characters of a request's options. Longer ones are stored without the tools, or not at all. */
const MAX_CHARS = 200_000;

/** The names of a request's parameters in a record, which no style owns. Null: not among the options. */
const STORED_NAMES = {
  temperature: "temperature",
  maxTokens: "max_tokens",
  topP: "top_p",
  topK: "top_k",
  minP: "min_p",
  stop: "stop",
  seed: "seed",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
  repetitionPenalty: "repetition_penalty",
  logitBias: "logit_bias",
  reasoningEffort: "reasoning_effort",
  thinkingBudget: "thinking_budget",
  verbosity: "verbosity",
  promptCacheKey: "prompt_cache_key",
  logprobs: "logprobs",
  n: "n",
  modalities: "modalities",
  // The summary of the record has it.
  user: null,
} as const satisfies Record<keyof GenerationOptions, string | null>;

/** The name of a parameter in a record. */
export type StoredParameter = Exclude<(typeof STORED_NAMES)[keyof GenerationOptions], null>;

/** Ids of tokens. Biases of anything else are left out. */
const TOKEN_ID = /^\d{1,7}$/;

function describeParameters({ logitBias, ...options }: GenerationOptions) {
  const names: Readonly<Record<string, StoredParameter | null>> = STORED_NAMES;
  const described: Partial<Record<StoredParameter, unknown>> = {};
  for (const [name, value] of Object.entries(options)) {
    const stored = names[name];
    if (stored != null) described[stored] = value;
  }
  if (logitBias === undefined) return described;
  const biases = Object.entries(logitBias).filter(([id]) => TOKEN_ID.test(id));
  return { ...described, [STORED_NAMES.logitBias]: Object.fromEntries(biases) };
}

const describeToolChoice = (choice: ToolChoice) =>
  choice.type === "function" ? { function: choice.name } : choice.type;

function describeFormat(format: ResponseFormat): unknown {
  if (format.type === "text") return undefined;
  if (format.type === "json") return { type: "json" };
  const { name, schema, strict } = format;
  return { type: "json_schema", name, schema, strict };
}

/** The request's tools and parameters under names that no style owns. Members that it does not set are left out. */
function describeOptions(conversation: Conversation) {
  const { tools, toolChoice, parallelToolCalls, webSearch, options, responseFormat } = conversation;
  return {
    tools: tools.map(({ name, description = "", parameters = { type: "object" } }) => ({
      name,
      description,
      parameters,
    })),
    tool_choice:
      tools.length === 0 || toolChoice.type === "auto" ? undefined : describeToolChoice(toolChoice),
    response_format: describeFormat(responseFormat),
    parallel_tool_calls: tools.length === 0 || parallelToolCalls ? undefined : false,
    web_search: webSearch === undefined ? undefined : true,
    ...describeParameters(options),
  };
}

/** Redacts a text, or the names of an object's members: the serializer visits the members' values itself. */
function redactMember(member: unknown, redact: (text: string) => string): unknown {
  if (typeof member === "string") return redact(member);
  if (!isObject(member)) return member;
  return Object.fromEntries(Object.entries(member).map(([name, value]) => [redact(name), value]));
}

/**
 * Serializes a conversation's tools and parameters as JSON text for the archive, so that the request can be sent again:
 * inexactly, if its texts or the names in its schemas are redacted.
 *
 * @returns the empty text if the options are too long to store
 * @param redact replaces what must not be stored of a text; null: all of it may be stored
 */
export function serializeOptions(
  conversation: Conversation,
  redact: ((text: string) => string) | null,
): string {
  const options = describeOptions(conversation);
  const serialize = (value: object) =>
    redact === null
      ? JSON.stringify(value)
      : JSON.stringify(value, (_, member: unknown) => redactMember(member, redact));
  const text = serialize(options);
  if (text.length <= MAX_CHARS) return text;
  const withoutTools = serialize({ ...options, tools: [], tools_omitted: true });
  return withoutTools.length <= MAX_CHARS ? withoutTools : "";
}
