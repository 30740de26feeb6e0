import { type Conversation, usesTools } from "../../../core/conversation/conversation.ts";
import type { RequestSettings, RequestWriter } from "../backends/keyed-protocol.ts";
import { ifDefined } from "../json.ts";
import type { PrepareOptions } from "../provider.ts";
import { providerFileId } from "../requests/attachments.ts";
import { renderPromptRules } from "../requests/prompt-rules.ts";
import { joinParagraphList, renderTextFile } from "../requests/prompt-text.ts";
import { type AttachedPart, RequestAttachments } from "../requests/request-attachments.ts";
import { selectEffort } from "../requests/thinking-budget.ts";
import { toWireItems } from "./items.ts";
import { optionFields } from "./options.ts";
import {
  INCLUDE_ENCRYPTED_REASONING,
  INCLUDE_LOGPROBS,
  INCLUDE_SEARCH_SOURCES,
  type WireFormat,
  type WireItem,
  type WirePart,
  type WireReasoningItem,
  type WireRequest,
  type WireTool,
  type WireWebSearch,
} from "./wire.ts";

/** Returns the reasoning items before a call; undefined: not known. */
export type ThoughtsBefore = (callId: string) => readonly WireReasoningItem[] | undefined;

const NO_PARAMETERS = { type: "object", properties: {} } as const;

/**
 * Translates a conversation into a request whose response is not stored. Attachments are sent inside the request as data
 * URLs; files that are given by id stay ids.
 */
export class RequestBuilder implements RequestWriter<WireRequest> {
  readonly #conversation: Conversation;
  readonly #options: PrepareOptions;
  readonly #settings: RequestSettings;
  readonly #attachments: RequestAttachments;
  readonly #thoughtsBefore: ThoughtsBefore;

  /** Throws a `GatewayError` 400 for a broken attachment. */
  constructor(
    conversation: Conversation,
    options: PrepareOptions,
    settings: RequestSettings,
    thoughtsBefore: ThoughtsBefore,
  ) {
    this.#conversation = conversation;
    this.#options = options;
    this.#settings = settings;
    this.#thoughtsBefore = thoughtsBefore;
    this.#attachments = new RequestAttachments(conversation, options);
  }

  /** Everything that the model reads, as one text. */
  get promptText(): string {
    const tools = this.#tools();
    return joinParagraphList([
      ...this.#items("", () => undefined).flatMap(itemTexts),
      ...(tools.length > 0 && usesTools(this.#conversation) ? [JSON.stringify(tools)] : []),
    ]);
  }

  /** Downloads attachments that are given by URL. */
  load(signal: AbortSignal): Promise<void> {
    return this.#attachments.load(signal);
  }

  /** Builds the request. `suffix` is the prompt of a follow-up turn (blank: none). */
  async build(suffix: string, signal: AbortSignal): Promise<WireRequest> {
    await this.load(signal);
    const { options, model, thinking } = this.#conversation;
    const thinks = thinking && model.thinking;
    // A model that must not think cannot use its earlier reasoning.
    const known = thinks ? this.#thoughtsBefore : () => undefined;
    const include = this.#include(thinks);
    return {
      model: this.#settings.model,
      input: this.#items(suffix, known),
      stream: !this.#settings.whole,
      store: false,
      ...(include.length === 0 ? {} : { include }),
      ...this.#toolFields(),
      ...this.#text(),
      reasoning: thinks
        ? { ...ifDefined("effort", selectEffort(this.#conversation.options)), summary: "auto" }
        : { effort: "none" },
      ...optionFields(options),
    };
  }

  get #markup(): boolean {
    return this.#settings.toolCalls === "markup";
  }

  #items(suffix: string, thoughts: ThoughtsBefore): readonly WireItem[] {
    const { thinking } = this.#conversation;
    return toWireItems(this.#conversation, {
      toolCallsAsText: this.#markup,
      rules: renderPromptRules(this.#conversation, this.#markup),
      // With native tool calls the gateway adds no text to the user's messages.
      injection: thinking && this.#markup ? (this.#options.thinkingInjection ?? "") : "",
      suffix: suffix.trim(),
      partOf: (part) => this.#wirePart(part),
      thoughtsBefore: (callId) => thoughts(callId) ?? [],
    });
  }

  #wirePart(part: AttachedPart): WirePart {
    const attachment = this.#attachments.of(part);
    if (attachment.kind === "text") {
      return { type: "input_text", text: renderTextFile(attachment.filename, attachment.text) };
    }
    const loaded = this.#attachments.loaded(attachment);
    const url = loaded === undefined ? "" : `data:${loaded.mediaType};base64,${loaded.data}`;
    const { source } = attachment;
    if (attachment.kind === "image") {
      const detail = (part.type === "image" ? part.detail : undefined) ?? "auto";
      const imageSource = source.kind === "file" ? { file_id: providerFileId(source) } : { image_url: url };
      return { type: "input_image", ...imageSource, detail };
    }
    if (source.kind === "file") return { type: "input_file", file_id: providerFileId(source) };
    return { type: "input_file", filename: attachment.filename, file_data: url };
  }

  #include(thinks: boolean): string[] {
    const { options, webSearch } = this.#conversation;
    return [
      ...(thinks ? [INCLUDE_ENCRYPTED_REASONING] : []),
      ...(webSearch === undefined ? [] : [INCLUDE_SEARCH_SOURCES]),
      ...(options.logprobs === undefined ? [] : [INCLUDE_LOGPROBS]),
    ];
  }

  #toolFields(): Pick<WireRequest, "tools" | "tool_choice" | "parallel_tool_calls"> {
    const { parallelToolCalls } = this.#conversation;
    const search = this.#search();
    const declared = this.#tools();
    // A `tool_choice` of `none` would also forbid the search, so the caller's tools are left out instead.
    const usableTools = search.length > 0 && !usesTools(this.#conversation) ? [] : declared;
    const tools = [...usableTools, ...search];
    if (tools.length === 0) return {};
    if (usableTools.length === 0) return { tools };
    const single = parallelToolCalls ? {} : { parallel_tool_calls: false as const };
    return { tools, tool_choice: this.#toolChoice(), ...single };
  }

  #tools(): readonly WireTool[] {
    if (this.#markup) return [];
    return this.#conversation.tools.map(({ name, description, parameters, strict }) => ({
      type: "function",
      name,
      ...ifDefined("description", description),
      parameters: parameters ?? NO_PARAMETERS,
      // The protocol's default is strict, and few schemas meet its rules.
      strict: strict ?? false,
    }));
  }

  #search(): readonly WireWebSearch[] {
    const { webSearch } = this.#conversation;
    if (webSearch === undefined) return [];
    const { contextSize, location, allowedDomains } = webSearch;
    return [
      {
        type: "web_search",
        ...ifDefined("search_context_size", contextSize),
        ...(allowedDomains === undefined ? {} : { filters: { allowed_domains: allowedDomains } }),
        ...(location === undefined ? {} : { user_location: { type: "approximate", ...location } }),
      },
    ];
  }

  #toolChoice(): unknown {
    const { toolChoice } = this.#conversation;
    return toolChoice.type === "function" ? { type: "function", name: toolChoice.name } : toolChoice.type;
  }

  #text(): Pick<WireRequest, "text"> {
    const format = this.#format();
    const { verbosity } = this.#conversation.options;
    if (format === undefined && verbosity === undefined) return {};
    return { text: { ...ifDefined("format", format), ...ifDefined("verbosity", verbosity) } };
  }

  #format(): WireFormat | undefined {
    const { responseFormat: format } = this.#conversation;
    // Output that is constrained to JSON cannot contain markup.
    if (format.type === "text" || (this.#markup && usesTools(this.#conversation))) return undefined;
    if (format.type === "json") return { type: "json_object" };
    const name = (format.name ?? "answer").replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
    return { type: "json_schema", name, schema: format.schema, ...ifDefined("strict", format.strict) };
  }
}

function listTexts(content: string | readonly WirePart[]): string[] {
  if (typeof content === "string") return [content];
  return content.flatMap((part) => (part.type === "input_text" ? [part.text] : []));
}

function itemTexts(item: WireItem): string[] {
  switch (item.type) {
    case "message":
      return listTexts(item.content);
    case "function_call":
      return [item.name, item.arguments];
    case "function_call_output":
      return listTexts(item.output);
    case "reasoning":
      return [];
  }
}
