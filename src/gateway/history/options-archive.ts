import type { Conversation, ResponseFormat } from "../../core/conversation/conversation.ts";
import type { ToolChoice } from "../../core/conversation/tool.ts";

/** Most characters of a request's options. Longer ones are stored without the tools. */
const MAX_CHARS = 200_000;

const describeToolChoice = (choice: ToolChoice) =>
  choice.type === "function" ? { function: choice.name } : choice.type;

function describeFormat(format: ResponseFormat): unknown {
  if (format.type === "text") return undefined;
  if (format.type === "json") return { type: "json" };
  const { name, schema, strict } = format;
  return { type: "json_schema", name, schema, strict };
}

/** The request's tools and parameters under names that no style owns. Members that it does not set are left out. */
function describeOptions({ tools, toolChoice, sampling, responseFormat }: Conversation) {
  return {
    tools: tools.map(({ name, description = "", parameters = { type: "object" } }) => ({
      name,
      description,
      parameters,
    })),
    tool_choice:
      tools.length === 0 || toolChoice.type === "auto" ? undefined : describeToolChoice(toolChoice),
    response_format: describeFormat(responseFormat),
    temperature: sampling.temperature,
    max_tokens: sampling.maxTokens,
    top_p: sampling.topP,
    top_k: sampling.topK,
    min_p: sampling.minP,
    stop: sampling.stop,
    seed: sampling.seed,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    reasoning_effort: sampling.reasoningEffort,
  };
}

/**
 * Serializes a conversation's tools and parameters as JSON text for the archive, so that the request can be sent again.
 *
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
      : JSON.stringify(value, (_, member: unknown) => (typeof member === "string" ? redact(member) : member));
  const text = serialize(options);
  return text.length <= MAX_CHARS ? text : serialize({ ...options, tools: [], tools_omitted: true });
}
