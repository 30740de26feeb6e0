import { type Conversation, usesTools } from "../../../core/conversation/conversation.ts";
import type { WebSearch } from "../../../core/conversation/web-search.ts";
import type { RequestSettings, RequestWriter } from "../backends/keyed-protocol.ts";
import { ifDefined } from "../json.ts";
import type { PrepareOptions } from "../provider.ts";
import { providerFileId } from "../requests/attachments.ts";
import { renderPromptRules } from "../requests/prompt-rules.ts";
import { renderTextFile } from "../requests/prompt-text.ts";
import { type AttachedPart, RequestAttachments } from "../requests/request-attachments.ts";
import { selectEffort } from "../requests/thinking-budget.ts";
import { wireMessages } from "./messages.ts";
import { optionFields } from "./options.ts";
import type { WireMessage, WirePart, WireRequest, WireSearch, WireTool } from "./wire.ts";

/** Builds chat-completions requests from a conversation. Attachments are embedded as data URLs. */
export class RequestBuilder implements RequestWriter<WireRequest> {
  readonly #conversation: Conversation;
  readonly #options: PrepareOptions;
  readonly #settings: RequestSettings;
  readonly #attachments: RequestAttachments;
  /** The messages of a conversation without attachments and suffix, cached until they are sent. */
  #plain: readonly WireMessage[] | undefined;

  /** Throws a `GatewayError` 400 for a broken attachment. */
  constructor(conversation: Conversation, options: PrepareOptions, settings: RequestSettings) {
    this.#conversation = conversation;
    this.#options = options;
    this.#settings = settings;
    this.#attachments = new RequestAttachments(conversation, options);
  }

  /** Everything that the model reads, as one text. */
  get promptText(): string {
    const texts = this.#messages("").flatMap(messageTexts);
    if (!this.#markup && usesTools(this.#conversation)) texts.push(JSON.stringify(this.#tools()));
    return texts.filter((text) => text !== "").join("\n\n");
  }

  /** Builds the request. `suffix` is the text of a follow-up turn (blank: none). */
  async build(suffix: string, signal: AbortSignal): Promise<WireRequest> {
    await this.load(signal);
    const { options, model, thinking, tools, parallelToolCalls, webSearch } = this.#conversation;
    const native = !this.#markup && tools.length > 0;
    const thinks = thinking && model.thinking;
    const messages = this.#messages(suffix);
    // Free the memory: the messages are not needed while the answer arrives.
    this.#plain = undefined;
    return {
      model: this.#settings.model,
      messages,
      ...(this.#settings.whole
        ? { stream: false }
        : { stream: true, stream_options: { include_usage: true } }),
      ...(native ? { tools: this.#tools(), tool_choice: this.#toolChoice() } : {}),
      ...(native && !parallelToolCalls ? { parallel_tool_calls: false } : {}),
      ...this.#responseFormat(),
      ...optionFields(options),
      ...(webSearch === undefined ? {} : { web_search_options: searchOptions(webSearch) }),
      // Engines have different switches to turn thinking off. Each engine ignores the other's switch.
      ...(thinks
        ? ifDefined("reasoning_effort", selectEffort(this.#conversation.options))
        : { reasoning_effort: "none", chat_template_kwargs: { enable_thinking: false } }),
    };
  }

  get #markup(): boolean {
    return this.#settings.toolCalls === "markup";
  }

  #messages(suffix: string): readonly WireMessage[] {
    // Not cached with attachments: their content may be loaded between two calls.
    if (suffix.trim() !== "" || !this.#attachments.isEmpty) return this.#newMessages(suffix);
    this.#plain ??= this.#newMessages("");
    return this.#plain;
  }

  #newMessages(suffix: string): readonly WireMessage[] {
    const { thinking } = this.#conversation;
    return wireMessages(this.#conversation, {
      markup: this.#markup,
      rules: renderPromptRules(this.#conversation, this.#markup),
      // With native tool calls the gateway adds nothing to the user's messages.
      injection: thinking && this.#markup ? (this.#options.thinkingInjection ?? "") : "",
      suffix: suffix.trim(),
      partOf: (part) => this.#wirePart(part),
    });
  }

  #wirePart(part: AttachedPart): WirePart {
    const attachment = this.#attachments.of(part);
    if (attachment.kind === "text") {
      return { type: "text", text: renderTextFile(attachment.filename, attachment.text) };
    }
    // The protocol has no image by id. A backend that reads images as files accepts this.
    if (attachment.source.kind === "file") {
      return { type: "file", file: { file_id: providerFileId(attachment.source) } };
    }
    const loaded = this.#attachments.loaded(attachment);
    const url = loaded === undefined ? "" : `data:${loaded.mediaType};base64,${loaded.data}`;
    if (attachment.kind === "document") {
      return { type: "file", file: { filename: attachment.filename, file_data: url } };
    }
    const detail = part.type === "image" && part.detail !== undefined ? { detail: part.detail } : {};
    return { type: "image_url", image_url: { url, ...detail } };
  }

  /** Fetches attachments that are behind URLs. */
  load(signal: AbortSignal): Promise<void> {
    return this.#attachments.load(signal);
  }

  #tools(): WireTool[] {
    return this.#conversation.tools.map((tool) => ({
      type: "function",
      function: {
        name: tool.name,
        ...ifDefined("description", tool.description),
        ...ifDefined("parameters", tool.parameters),
        ...ifDefined("strict", tool.strict),
      },
    }));
  }

  #toolChoice(): unknown {
    const { toolChoice } = this.#conversation;
    return toolChoice.type === "function"
      ? { type: "function", function: { name: toolChoice.name } }
      : toolChoice.type;
  }

  #responseFormat(): Pick<WireRequest, "response_format"> {
    const { responseFormat: format } = this.#conversation;
    // A JSON constraint would prevent the model from writing tool calls as markup.
    if (format.type === "text" || (this.#markup && usesTools(this.#conversation))) return {};
    if (format.type === "json") return { response_format: { type: "json_object" } };
    const name = (format.name ?? "answer").replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
    return {
      response_format: {
        type: "json_schema",
        json_schema: { name, schema: format.schema, ...ifDefined("strict", format.strict) },
      },
    };
  }
}

/** The protocol has no field for domains. */
function searchOptions({ contextSize, location }: WebSearch): WireSearch {
  return {
    ...ifDefined("search_context_size", contextSize),
    ...(location === undefined ? {} : { user_location: { type: "approximate", approximate: location } }),
  };
}

function messageTexts(message: WireMessage): string[] {
  const { content } = message;
  const texts =
    typeof content === "string"
      ? [content]
      : (content ?? []).flatMap((part) => (part.type === "text" ? [part.text] : []));
  if (message.role === "assistant") {
    texts.unshift(message.reasoning_content ?? "");
    for (const call of message.tool_calls ?? []) texts.push(call.function.name, call.function.arguments);
  }
  return texts;
}
