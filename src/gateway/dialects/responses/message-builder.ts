import type { Message, Part, ToolCall } from "../../../core/conversation/conversation.ts";
import { isObject, type JsonObject } from "../../../core/encoding/json.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { parseWith } from "../../../core/http/json-body.ts";
import { messageSchema, toMessage } from "../chat-completions/content.ts";
import type { DeclaredTools } from "../shared/declared-tools.ts";
import { optionalString, unknownValueError } from "../shared/members.ts";
import { PendingToolCalls } from "../shared/pending-tool-calls.ts";
import { isStandalonePart, toParts } from "./parts.ts";
import { decodeSummary } from "./summary-encoding.ts";

/** An assistant message that is being assembled from its items. */
interface MessageDraft {
  readonly parts: Part[];
  readonly toolCalls: ToolCall[];
  reasoning: string;
}

/** Returns text unchanged and other values as JSON text. */
function toJsonText(value: unknown, empty: string): string {
  if (typeof value === "string") return value.trim() === "" ? empty : value;
  return value === undefined || value === null ? empty : JSON.stringify(value);
}

/** Returns the text of a reasoning item: its summary, or else its content. */
function extractReasoning(item: JsonObject): string {
  for (const name of ["summary", "content"]) {
    const parts = item[name];
    if (!Array.isArray(parts)) continue;
    const texts = parts.filter(isObject).flatMap((part) => optionalString(part, "text") ?? []);
    if (texts.length > 0) return texts.join("\n\n");
  }
  return "";
}

/** Returns whether a message uses fields that only the chat-completions style has. */
function isChatMessage(item: JsonObject): boolean {
  const role = item["role"];
  return role === "tool" || role === "function" || "tool_calls" in item || "function_call" in item;
}

/**
 * Assembles messages from input items (docs/clients.md, assertions 13 to 15). The model's output of one turn arrives as
 * several items, which are merged into one assistant message. Unknown item types are ignored.
 */
export class MessageBuilder {
  readonly #messages: Message[] = [];
  readonly #tools: DeclaredTools;
  /** Tool names of all calls so far, by call id. Outputs refer to the ids. */
  readonly #calls = new Map<string, string>();
  /**
   * Whether the request continues a stored conversation, so all calls are known: then an output without its call is an
   * error.
   */
  readonly #isContinuation: boolean;
  /** Pending calls of chat-completions messages, whose results may have no ids. */
  readonly #pendingCalls = new PendingToolCalls();
  #draft: MessageDraft | null = null;

  /** `previousMessages`: messages of the conversation that the request continues. */
  constructor(tools: DeclaredTools, previousMessages: readonly Message[]) {
    this.#tools = tools;
    this.#isContinuation = previousMessages.length > 0;
    for (const message of previousMessages) {
      this.#messages.push(message);
      if (message.role === "assistant") this.#rememberCallNames(message.toolCalls);
    }
  }

  /** Completes the last message and returns all messages. */
  finish(): Message[] {
    this.#closeDraft();
    return this.#messages;
  }

  /**
   * Adds one item of `input` or `messages`.
   *
   * @throws GatewayError 400 that names the invalid field.
   */
  add(item: unknown, fieldPath: string): void {
    if (typeof item === "string") {
      this.#push({ role: "user", parts: toParts(item, fieldPath) });
      return;
    }
    if (!isObject(item)) throw invalidRequest(`${fieldPath} must be an object`, fieldPath);
    const type = optionalString(item, "type");
    if (isStandalonePart(type)) {
      this.#push({ role: "user", parts: toParts([item], fieldPath) });
    } else if (type === undefined || type === "message") {
      if (isChatMessage(item)) this.#addChatMessage(item, fieldPath);
      else this.#addMessage(item, fieldPath);
    } else if (type === "compaction" || type === "compaction_summary") {
      this.#push({ role: "user", parts: [{ type: "text", text: decodeSummary(item, fieldPath) }] });
    } else if (type === "reasoning") {
      this.#addReasoning(extractReasoning(item));
    } else if (type.endsWith("_output")) {
      this.#addOutput(item, fieldPath);
    } else if (type.endsWith("_call")) {
      this.#addCall(item, type);
    }
  }

  #push(message: Message): void {
    this.#closeDraft();
    this.#messages.push(message);
  }

  #closeDraft(): void {
    const draft = this.#draft;
    this.#draft = null;
    if (draft === null) return;
    const { parts, toolCalls, reasoning } = draft;
    // Drop reasoning without text or calls.
    if (parts.length === 0 && toolCalls.length === 0) return;
    const message: Message = { role: "assistant", parts, toolCalls };
    this.#messages.push(reasoning === "" ? message : { ...message, reasoning });
  }

  #openDraft(): MessageDraft {
    this.#draft ??= { parts: [], toolCalls: [], reasoning: "" };
    return this.#draft;
  }

  #rememberCallNames(calls: readonly ToolCall[]): void {
    for (const { id, name } of calls) this.#calls.set(id, name);
  }

  #addMessage(item: JsonObject, fieldPath: string): void {
    const parts = toParts(item["content"], `${fieldPath}.content`);
    const role = item["role"] ?? "user";
    switch (role) {
      case "system":
      case "developer":
        this.#push({ role: "system", parts });
        return;
      case "user": {
        const name = optionalString(item, "name");
        this.#push(name === undefined ? { role: "user", parts } : { role: "user", parts, name });
        return;
      }
      case "assistant": {
        // A second message without a call in between belongs to another turn.
        const { parts: draftParts, toolCalls } = this.#openDraft();
        if (draftParts.length > 0 && toolCalls.length === 0) this.#closeDraft();
        const { parts: nextParts } = this.#openDraft();
        // Push in a loop: spreading a long array into `push` exceeds the maximum number of arguments.
        for (const part of parts) nextParts.push(part);
        return;
      }
      default:
        throw unknownValueError(role, `${fieldPath}.role`, ["system", "developer", "user", "assistant"]);
    }
  }

  #addChatMessage(item: JsonObject, fieldPath: string): void {
    const message = toMessage(parseWith(messageSchema, item), fieldPath, this.#pendingCalls);
    if (message.role === "assistant") this.#rememberCallNames(message.toolCalls);
    this.#push(message);
  }

  #addReasoning(text: string): void {
    if (text === "") return;
    const draft = this.#openDraft();
    draft.reasoning = draft.reasoning === "" ? text : `${draft.reasoning}\n\n${text}`;
  }

  /** Adds `function_call`, `custom_tool_call`, and calls of tools that only the real service can run. */
  #addCall(item: JsonObject, type: string): void {
    const id =
      optionalString(item, "call_id") ?? (type === "function_call" ? optionalString(item, "id") : undefined);
    if (id === undefined) return;
    const name = this.#tools.getFlatName(
      optionalString(item, "name") ?? type.slice(0, -"_call".length),
      optionalString(item, "namespace"),
    );
    const call = { id, name, arguments: this.#toArguments(item) };
    this.#rememberCallNames([call]);
    this.#openDraft().toolCalls.push(call);
  }

  #toArguments(item: JsonObject): string {
    const input = item["input"];
    if (typeof input === "string") return JSON.stringify({ input });
    return toJsonText(item["arguments"] ?? item["action"] ?? item["operation"] ?? input, "{}");
  }

  /** Adds `function_call_output`, `custom_tool_call_output` and similar items. `call_id` assigns them to their calls. */
  #addOutput(item: JsonObject, fieldPath: string): void {
    const callId = optionalString(item, "call_id");
    if (callId === undefined) return;
    const output = item["output"] ?? item["tools"];
    const parts =
      typeof output === "string" || Array.isArray(output)
        ? toOutputParts(output, `${fieldPath}.output`)
        : toParts(toJsonText(output, ""), fieldPath);
    const name = this.#calls.get(callId);
    if (name === undefined && this.#isContinuation) {
      throw invalidRequest(`no tool call was made with the call_id ${JSON.stringify(callId)}`, fieldPath);
    }
    const isError = item["status"] === "failed" ? { isError: true } : {};
    this.#push({ role: "tool", callId, parts, ...(name === undefined ? {} : { name }), ...isError });
  }
}

/** Converts an output to content parts. An array that is not a list of content parts becomes JSON text. */
function toOutputParts(output: string | unknown[], fieldPath: string): Part[] {
  const isContent =
    typeof output === "string" || output.every((part) => isObject(part) && typeof part["type"] === "string");
  return toParts(isContent ? output : JSON.stringify(output), fieldPath);
}
