import {
  type Conversation,
  type GenerationOptions,
  joinText,
  type Message,
  type Part,
  type ResponseFormat,
  type ToolCall,
} from "../../core/conversation/conversation.ts";
import type { ToolDefinition } from "../../core/conversation/tool.ts";
import { sha256Hex } from "../../core/encoding/hash.ts";
import { isObject } from "../../core/encoding/json.ts";
import { AttachmentChecker } from "./check-attachment.ts";
import { rejectUnusual } from "./check-option.ts";
import type { TextChecker } from "./text-checker.ts";

/**
 * Returns a conversation with masked texts: messages, reasoning, arguments and results of tools, descriptions and schemas
 * of tools and of the format, and text files. Names and options cannot be masked: a match in them denies the request. Ids of
 * calls and the key of a cache that match are replaced.
 *
 * @param inventedModel the model's name at the provider, if the caller may have invented it
 * @throws GatewayError if a rule denies one of them
 */
export async function maskConversation(
  conversation: Conversation,
  checker: TextChecker,
  inventedModel?: string,
): Promise<Conversation> {
  await checker.rejectMatches(inventedModel);
  const { responseFormat, options, toolChoice, webSearch } = conversation;
  const attachments = new AttachmentChecker(conversation, checker);
  const callIds = new CallIds(checker);
  const messages: Message[] = [];
  for (const message of conversation.messages)
    messages.push(await maskMessage(message, checker, attachments, callIds));
  const tools: ToolDefinition[] = [];
  for (const tool of conversation.tools) tools.push(await maskTool(tool, checker));
  if (toolChoice.type === "function") await checker.rejectMatches(toolChoice.name);
  const { contextSize, location, allowedDomains, blockedDomains } = webSearch ?? {};
  await checker.rejectMatches([location, allowedDomains, blockedDomains]);
  await rejectUnusual(checker, contextSize, conversation.cache?.ttl);
  return {
    ...conversation,
    messages,
    tools,
    options: await maskOptions(options, checker),
    responseFormat: await maskFormat(responseFormat, checker),
  };
}

/** Replaces ids of calls that match: a call and its result keep the same id. */
class CallIds {
  readonly #checker: TextChecker;
  readonly #replacements = new Map<string, string>();

  constructor(checker: TextChecker) {
    this.#checker = checker;
  }

  async replace(id: string): Promise<string> {
    const known = this.#replacements.get(id);
    if (known !== undefined) return known;
    if (!(await this.#checker.matchesId(id))) return id;
    // Nine letters and digits: some providers take no other ids.
    const replacement = `call${String(this.#replacements.size + 1).padStart(5, "0")}`;
    this.#replacements.set(id, replacement);
    return replacement;
  }
}

async function maskMessage(
  message: Message,
  checker: TextChecker,
  attachments: AttachmentChecker,
  callIds: CallIds,
): Promise<Message> {
  const parts = await maskParts(message.parts, checker, attachments);
  switch (message.role) {
    case "system":
      return { ...message, parts };
    case "user":
      await checker.rejectMatches(message.name);
      return { ...message, parts };
    case "tool":
      await checker.rejectMatches(message.name);
      await rejectUnusual(checker, message.cache?.ttl);
      return { ...message, callId: await callIds.replace(message.callId), parts };
    case "assistant": {
      const { reasoning } = message;
      const toolCalls: ToolCall[] = [];
      for (const call of message.toolCalls) {
        await checker.rejectMatches(call.name);
        await rejectUnusual(checker, call.cache?.ttl);
        const id = await callIds.replace(call.id);
        toolCalls.push({ ...call, id, arguments: await checker.maskJson(call.arguments) });
      }
      const masked = reasoning === undefined ? {} : { reasoning: await checker.mask(reasoning) };
      return { ...message, parts, ...masked, toolCalls };
    }
  }
}

/**
 * Masks the texts of a message as one text, because the model may read them as one. If that changes them, the first part
 * has all of the text.
 */
async function maskParts(
  parts: readonly Part[],
  checker: TextChecker,
  attachments: AttachmentChecker,
): Promise<readonly Part[]> {
  const text = joinText(parts);
  const masked = await checker.mask(text);
  const first = parts.findIndex(({ type }) => type === "text");
  const result: Part[] = [];
  for (const [index, part] of parts.entries()) {
    await rejectUnusual(checker, part.cache?.ttl);
    if (part.type !== "text") result.push(await attachments.mask(part));
    else if (masked === text) result.push(part);
    else if (index === first) result.push({ ...part, text: masked });
  }
  return result;
}

async function maskTool(tool: ToolDefinition, checker: TextChecker): Promise<ToolDefinition> {
  const { name, description, parameters } = tool;
  await checker.rejectMatches(name);
  await rejectUnusual(checker, tool.cache?.ttl);
  const masked = await checker.maskStrings(parameters);
  return {
    ...tool,
    ...(description === undefined ? {} : { description: await checker.mask(description) }),
    ...(isObject(masked) ? { parameters: masked } : {}),
  };
}

async function maskFormat(format: ResponseFormat, checker: TextChecker): Promise<ResponseFormat> {
  if (format.type !== "json-schema") return format;
  await checker.rejectMatches(format.name);
  const schema = await checker.maskStrings(format.schema);
  return isObject(schema) ? { ...format, schema } : format;
}

/**
 * How an option is checked. `choice`: unusual values deny the request if they match, as all values do of a `text`.
 * Others are masked or replaced. Only numbers are not checked.
 */
type OptionCheck = "choice" | "text" | "masked" | "replaced";

const OPTION_CHECKS = {
  temperature: "number",
  topP: "number",
  topK: "number",
  minP: "number",
  presencePenalty: "number",
  frequencyPenalty: "number",
  repetitionPenalty: "number",
  maxTokens: "number",
  seed: "number",
  thinkingBudget: "number",
  logprobs: "number",
  n: "number",
  logitBias: "choice",
  reasoningEffort: "choice",
  verbosity: "choice",
  modalities: "choice",
  stop: "text",
  user: "masked",
  promptCacheKey: "replaced",
} as const satisfies {
  readonly [name in keyof GenerationOptions]-?: Required<GenerationOptions>[name] extends number
    ? "number"
    : OptionCheck;
};

/** The values of an option: its texts, or the names of its members. */
function listChoices(option: unknown): readonly string[] {
  if (typeof option === "string") return [option];
  return Array.isArray(option) ? option.map(String) : Object.keys(Object(option));
}

async function maskOptions(options: GenerationOptions, checker: TextChecker): Promise<GenerationOptions> {
  const checks: Readonly<Record<string, OptionCheck | "number">> = OPTION_CHECKS;
  for (const [name, option] of Object.entries(options)) {
    const check = checks[name];
    if (check === "text") await checker.rejectMatches(option);
    else if (check === "choice") await rejectUnusual(checker, ...listChoices(option));
  }
  const { user, promptCacheKey } = options;
  return {
    ...options,
    ...(user === undefined ? {} : { user: await checker.mask(user) }),
    ...(promptCacheKey === undefined
      ? {}
      : { promptCacheKey: await replaceCacheKey(promptCacheKey, checker) }),
  };
}

/** The key of a cache, or its digest: the same texts still share the cache. */
async function replaceCacheKey(key: string, checker: TextChecker): Promise<string> {
  return (await checker.matchesId(key)) ? (await sha256Hex(key)).slice(0, 32) : key;
}
