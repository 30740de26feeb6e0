import { type Conversation, usesTools } from "../../../core/conversation/conversation.ts";
import type { RequestSettings, RequestWriter } from "../backends/keyed-protocol.ts";
import { ifDefined } from "../json.ts";
import type { PrepareOptions } from "../provider.ts";
import type { Attachment } from "../requests/attachments.ts";
import { sniffMediaType } from "../requests/media-type-sniffing.ts";
import { renderPromptRules } from "../requests/prompt-rules.ts";
import { joinParagraphList, renderTextFile } from "../requests/prompt-text.ts";
import { RequestAttachments } from "../requests/request-attachments.ts";
import { toThinkingBudget } from "../requests/thinking-budget.ts";
import { selectThinkingMode } from "../requests/thinking-mode.ts";
import { toWireConversation, type WireConversation } from "./contents.ts";
import { optionFields } from "./options.ts";
import type {
  WireBody,
  WireFunctionDeclaration,
  WireGenerationConfig,
  WirePart,
  WireRequest,
  WireThinkingConfig,
  WireTool,
} from "./wire.ts";

/** Returns the thought signature of a call; undefined: not known. */
export type SignatureOf = (callId: string) => string | undefined;

/** Translates a conversation into a content-generation request. Attachments are sent inside the request. */
export class RequestBuilder implements RequestWriter<WireRequest> {
  readonly #conversation: Conversation;
  readonly #options: PrepareOptions;
  readonly #settings: RequestSettings;
  readonly #attachments: RequestAttachments;
  readonly #getSignature: SignatureOf;
  readonly #files: string;

  /**
   * Throws a `GatewayError` 400 for an attachment that cannot be sent.
   *
   * @param files the address of the backend's files
   */
  constructor(
    conversation: Conversation,
    options: PrepareOptions,
    settings: RequestSettings,
    getSignature: SignatureOf,
    files: string,
  ) {
    this.#files = files;
    this.#conversation = conversation;
    this.#options = options;
    this.#settings = settings;
    this.#getSignature = getSignature;
    this.#attachments = new RequestAttachments(conversation, options);
    for (const attachment of this.#attachments.all()) this.#toWirePart(attachment);
  }

  /** Everything that the model reads, as one text. */
  get promptText(): string {
    const { system, contents } = this.#wireConversation("");
    const inUse = usesTools(this.#conversation) && !this.#markup;
    return joinParagraphList([
      system,
      renderPromptRules(this.#conversation, this.#markup),
      ...contents.flatMap(({ parts }) => parts.flatMap(partTexts)),
      ...(inUse ? [JSON.stringify(this.#declarations())] : []),
    ]);
  }

  /** Downloads attachments that are given by URL. Throws a `GatewayError` 400 for an attachment that cannot be sent. */
  async load(signal: AbortSignal): Promise<void> {
    await this.#attachments.load(signal);
    for (const attachment of this.#attachments.all()) this.#toWirePart(attachment);
  }

  /** Builds the request. `suffix` is the prompt of a follow-up turn (blank: none). */
  async build(suffix: string, signal: AbortSignal): Promise<WireRequest> {
    await this.load(signal);
    const { system: leading, contents } = this.#wireConversation(suffix);
    const system = joinParagraphList([leading, renderPromptRules(this.#conversation, this.#markup)]);
    const { model, whole: isWhole } = this.#settings;
    return {
      model,
      stream: !isWhole,
      contents,
      ...(system === "" ? {} : { systemInstruction: { parts: [{ text: system }] } }),
      ...this.#toolFields(),
      generationConfig: this.#config(),
    };
  }

  get #markup(): boolean {
    return this.#settings.toolCalls === "markup";
  }

  #wireConversation(suffix: string): WireConversation {
    return toWireConversation(this.#conversation, {
      toolCallsAsText: this.#markup,
      // With native tool calls the gateway adds no text to the user's messages.
      injection:
        this.#markup && selectThinkingMode(this.#conversation) !== "off"
          ? (this.#options.thinkingInjection ?? "")
          : "",
      suffix: suffix.trim(),
      partOf: (part) => this.#toWirePart(this.#attachments.of(part)),
      signatureOf: this.#getSignature,
    });
  }

  /** Translates an attachment. It rejects no file type: only the model knows which types it reads. */
  #toWirePart(attachment: Attachment): WirePart {
    if (attachment.kind === "text") return { text: renderTextFile(attachment.filename, attachment.text) };
    const { source } = attachment;
    if (source.kind === "file") {
      const { fileId, stored } = source;
      const fileUri = stored?.uri ?? `${this.#files}/${encodeURIComponent(stored?.id ?? fileId)}`;
      return { fileData: { ...ifDefined("mimeType", stored?.mediaType), fileUri } };
    }
    const loaded = this.#attachments.loaded(attachment);
    if (loaded === undefined) return { text: "" };
    const { data } = loaded;
    return { inlineData: { mimeType: sniffMediaType(data) ?? loaded.mediaType, data } };
  }

  #declarations(): readonly WireFunctionDeclaration[] {
    return this.#conversation.tools.map(({ name, description, parameters }) => ({
      name,
      ...ifDefined("description", description),
      ...ifDefined("parametersJsonSchema", parameters),
    }));
  }

  #toolFields(): Pick<WireBody, "tools" | "toolConfig"> {
    const { webSearch, toolChoice } = this.#conversation;
    const functionDeclarations = this.#markup ? [] : this.#declarations();
    const native = functionDeclarations.length > 0;
    const tools: WireTool[] = [
      ...(native ? [{ functionDeclarations }] : []),
      ...(webSearch === undefined ? [] : [{ googleSearch: {} }]),
    ];
    if (!native) return tools.length === 0 ? {} : { tools };
    const modes = { auto: "AUTO", none: "NONE", required: "ANY", function: "ANY" } as const;
    const allowed = toolChoice.type === "function" ? { allowedFunctionNames: [toolChoice.name] } : {};
    return { tools, toolConfig: { functionCallingConfig: { mode: modes[toolChoice.type], ...allowed } } };
  }

  #config(): WireGenerationConfig {
    const { options, responseFormat: format } = this.#conversation;
    // Output that is constrained to JSON cannot contain markup.
    const isFreeText = format.type === "text" || (this.#markup && usesTools(this.#conversation));
    return {
      ...optionFields(options),
      ...(isFreeText ? {} : { responseMimeType: "application/json" }),
      ...(!isFreeText && format.type === "json-schema" ? { responseJsonSchema: format.schema } : {}),
      ...ifDefined("thinkingConfig", this.#thinking()),
    };
  }

  /** Without a requested budget or effort the model decides how much it thinks. */
  #thinking(): WireThinkingConfig | undefined {
    const mode = selectThinkingMode(this.#conversation);
    if (mode === "model") return undefined;
    // Many models think by default, so thinking is disabled explicitly.
    if (mode === "off") return { thinkingBudget: 0 };
    const { thinkingBudget, reasoningEffort } = this.#conversation.options;
    const effortBudget = reasoningEffort === undefined ? undefined : toThinkingBudget(reasoningEffort);
    return { includeThoughts: true, ...ifDefined("thinkingBudget", thinkingBudget ?? effortBudget) };
  }
}

function partTexts(part: WirePart): readonly string[] {
  if ("text" in part) return [part.text];
  if ("functionCall" in part) return [part.functionCall.name, JSON.stringify(part.functionCall.args)];
  return "functionResponse" in part ? Object.values(part.functionResponse.response) : [];
}
