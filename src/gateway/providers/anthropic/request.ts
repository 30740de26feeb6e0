import { type Conversation, requiresTool, usesTools } from "../../../core/conversation/conversation.ts";
import type { JsonSchema, ToolDefinition } from "../../../core/conversation/tool.ts";
import { describeToolChoice } from "../../tools/instructions.ts";
import type { RequestSettings, RequestWriter } from "../backends/keyed-protocol.ts";
import { ifDefined } from "../json.ts";
import type { PrepareOptions } from "../provider.ts";
import { renderPromptRules } from "../requests/prompt-rules.ts";
import { joinParagraphList } from "../requests/prompt-text.ts";
import { RequestAttachments } from "../requests/request-attachments.ts";
import { selectThinkingMode } from "../requests/thinking-mode.ts";
import { toContentBlock } from "./attachments.ts";
import { cacheControl } from "./cache-control.ts";
import { type ThinkingHistory, toWireConversation, type WireConversation } from "./messages.ts";
import { allocateTokens } from "./token-allocation.ts";
import type { WireBlock, WireRequest, WireText, WireTool, WireToolChoice, WireWebSearch } from "./wire.ts";

/** A thinking model accepts no `temperature` but its default, and only a `top_p` of at least this value. */
const MIN_THINKING_TOP_P = 0.95;

/**
 * Longest user id in characters. The protocol's own service rejects longer ones, so the gateway omits them instead of
 * failing.
 */
const MAX_USER_CHARS = 256;

const SEARCH = "web_search";

const NO_THINKING_HISTORY: ThinkingHistory = { blocksBefore: () => [], mustBeComplete: true };

/** Translates a conversation into a message request. Attachments are sent inside the request. */
export class RequestBuilder implements RequestWriter<WireRequest> {
  readonly #conversation: Conversation;
  readonly #options: PrepareOptions;
  readonly #settings: RequestSettings;
  readonly #attachments: RequestAttachments;
  readonly #thoughts: () => ThinkingHistory;

  /**
   * Throws a `GatewayError` 400 for an attachment that cannot be sent. `thoughts` is called while a request is
   * built.
   */
  constructor(
    conversation: Conversation,
    options: PrepareOptions,
    settings: RequestSettings,
    thoughts: () => ThinkingHistory,
  ) {
    this.#thoughts = thoughts;
    this.#conversation = conversation;
    this.#options = options;
    this.#settings = settings;
    this.#attachments = new RequestAttachments(conversation, options);
    this.#checkAttachments();
  }

  /** Everything that the model reads, as one text. */
  get promptText(): string {
    const { system, messages } = this.#wireConversation("", NO_THINKING_HISTORY);
    const texts = [
      ...listTexts(this.#system(system, false)),
      ...messages.flatMap(({ content }) => content.flatMap(blockTexts)),
      ...(this.#tools().length > 0 ? [JSON.stringify(this.#tools())] : []),
    ];
    return joinParagraphList(texts);
  }

  /** Downloads attachments that are given by URL. Throws a `GatewayError` 400 for an attachment that cannot be sent. */
  async load(signal: AbortSignal): Promise<void> {
    await this.#attachments.load(signal);
    this.#checkAttachments();
  }

  /** Builds the request. `suffix` is the prompt of a follow-up turn (blank: none). */
  async build(suffix: string, signal: AbortSignal): Promise<WireRequest> {
    await this.load(signal);
    const { options, model, expectedTokens, cache } = this.#conversation;
    const limit = options.maxTokens ?? expectedTokens;
    const { thinkingBudget, reasoningEffort, user } = options;
    const requested = { ...ifDefined("budget", thinkingBudget), ...ifDefined("effort", reasoningEffort) };
    const allocation = allocateTokens(limit, this.#mayThink ? requested : null, model.output);
    const known = allocation.budget === null ? NO_THINKING_HISTORY : this.#thoughts();
    const { system: leading, messages, mayThink } = this.#wireConversation(suffix, known);
    const tokens = mayThink ? allocation : allocateTokens(limit, null, model.output);
    const thinks = tokens.budget !== null;
    const system = this.#system(leading, thinks);
    const search = this.#search();
    const tools = [...this.#tools(), ...search];
    return {
      model: this.#settings.model,
      max_tokens: tokens.limit,
      ...(system.length === 0 ? {} : { system }),
      messages,
      stream: !this.#settings.whole,
      ...(tools.length === 0 ? {} : { tools, tool_choice: this.#toolChoice(thinks, search.length > 0) }),
      // Many models think by default, so thinking is disabled explicitly.
      thinking:
        tokens.budget === null ? { type: "disabled" } : { type: "enabled", budget_tokens: tokens.budget },
      ...this.#optionFields(thinks),
      ...cacheControl(cache),
      ...(user === undefined || user.length > MAX_USER_CHARS ? {} : { metadata: { user_id: user } }),
    };
  }

  /** Models of this protocol think only on request. */
  get #mayThink(): boolean {
    return selectThinkingMode(this.#conversation) === "on";
  }

  get #markup(): boolean {
    return this.#settings.toolCalls === "markup";
  }

  #checkAttachments(): void {
    for (const attachment of this.#attachments.all()) toContentBlock(attachment, this.#attachments);
  }

  #wireConversation(suffix: string, thoughts: ThinkingHistory): WireConversation {
    return toWireConversation(this.#conversation, {
      toolCallsAsText: this.#markup,
      // With native tool calls the gateway adds no text to the user's messages.
      injection: this.#markup && this.#mayThink ? (this.#options.thinkingInjection ?? "") : "",
      suffix: suffix.trim(),
      partOf: (part) => toContentBlock(this.#attachments.of(part), this.#attachments),
      thoughts,
    });
  }

  /**
   * The system prompt: the caller's texts, and the rules that have no field. It has blocks only if a text has a cache
   * mark.
   */
  #system(leading: readonly WireText[], thinks: boolean): string | readonly WireText[] {
    const inUse = usesTools(this.#conversation);
    // A thinking model cannot be forced to call a tool, so the system prompt asks for the call.
    const forced = inUse && !this.#markup && thinks && requiresTool(this.#conversation);
    const rules = renderPromptRules(
      this.#conversation,
      this.#markup,
      forced ? describeToolChoice(this.#conversation.toolChoice) : "",
    );
    return joinSystemTexts([...leading, { type: "text", text: rules }]);
  }

  /**
   * The declared tools. Calls in the history need a declaration even if the caller no longer offers their tools. A search
   * needs the choice `auto`, so it stands beside no other tools of a caller who forbids calls.
   */
  #tools(): readonly WireTool[] {
    if (this.#markup) return [];
    const { tools, messages } = this.#conversation;
    const searches = this.#search().length > 0;
    if (usesTools(this.#conversation) || (tools.length > 0 && !searches)) return tools.map(toWireTool);
    const calls = messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : []));
    const names = new Set(calls.map((call) => call.name));
    if (searches) names.delete(SEARCH);
    return [...names].map((name) => toWireTool(tools.find((tool) => tool.name === name) ?? { name }));
  }

  /** The server's web search; none if the caller has a tool of the same name. */
  #search(): readonly WireWebSearch[] {
    const { webSearch, tools } = this.#conversation;
    if (webSearch === undefined || tools.some(({ name }) => name === SEARCH)) return [];
    const { maxUses, allowedDomains, blockedDomains, location } = webSearch;
    return [
      {
        type: "web_search_20250305",
        name: SEARCH,
        ...ifDefined("max_uses", maxUses),
        ...ifDefined("allowed_domains", allowedDomains),
        // The protocol accepts only one of the two domain lists.
        ...ifDefined("blocked_domains", allowedDomains === undefined ? blockedDomains : undefined),
        ...(location === undefined ? {} : { user_location: { type: "approximate", ...location } }),
      },
    ];
  }

  #toolChoice(thinks: boolean, searches: boolean): WireToolChoice {
    const { toolChoice, parallelToolCalls } = this.#conversation;
    if (!usesTools(this.#conversation)) return { type: searches ? "auto" : "none" };
    const single = parallelToolCalls ? {} : ({ disable_parallel_tool_use: true } as const);
    if (thinks || toolChoice.type === "auto") return { type: "auto", ...single };
    if (toolChoice.type === "function") return { type: "tool", name: toolChoice.name, ...single };
    return { type: "any", ...single };
  }

  /** The protocol accepts either `temperature` (at most 1) or `top_p`. It accepts `top_k` only without thinking. */
  #optionFields(thinks: boolean): Pick<WireRequest, "temperature" | "top_p" | "top_k" | "stop_sequences"> {
    const { temperature, topP, topK, stop = [] } = this.#conversation.options;
    // The protocol rejects stop sequences of white space, which would end most answers anyway.
    const stops = stop.filter((text) => text.trim() !== "");
    const ends = {
      ...(stops.length === 0 ? {} : { stop_sequences: stops }),
      ...ifDefined("top_k", thinks ? undefined : topK),
    };
    if (!thinks && temperature !== undefined) return { temperature: Math.min(temperature, 1), ...ends };
    return { ...ifDefined("top_p", thinks && (topP ?? 0) < MIN_THINKING_TOP_P ? undefined : topP), ...ends };
  }
}

function toWireTool(tool: ToolDefinition): WireTool {
  return {
    name: tool.name,
    ...ifDefined("description", tool.description),
    input_schema: inputSchema(tool.parameters),
    ...ifDefined("strict", tool.strict),
    ...cacheControl(tool.cache),
  };
}

/** Adds `type: "object"`, which the protocol requires. */
function inputSchema(parameters: JsonSchema = {}): JsonSchema {
  return parameters["type"] === "object" ? parameters : { ...parameters, type: "object" };
}

/** Joins texts into one. A text with a cache mark ends a block. */
function joinSystemTexts(texts: readonly WireText[]): string | readonly WireText[] {
  const blocks: WireText[] = [];
  let openTexts: string[] = [];
  for (const { text, cache_control: breakpoint } of texts) {
    if (text.trim() === "") continue;
    openTexts.push(text);
    if (breakpoint === undefined) continue;
    blocks.push({ type: "text", text: joinParagraphList(openTexts), cache_control: breakpoint });
    openTexts = [];
  }
  if (blocks.length === 0) return joinParagraphList(openTexts);
  return openTexts.length === 0 ? blocks : [...blocks, { type: "text", text: joinParagraphList(openTexts) }];
}

function listTexts(system: string | readonly WireText[]): readonly string[] {
  return typeof system === "string" ? [system] : system.map(({ text }) => text);
}

/** The texts of a block. */
function blockTexts(block: WireBlock): readonly string[] {
  switch (block.type) {
    case "text":
      return [block.text];
    case "tool_use":
      return [block.name, JSON.stringify(block.input)];
    case "tool_result":
      return (block.content ?? []).flatMap(blockTexts);
    default:
      return [];
  }
}
