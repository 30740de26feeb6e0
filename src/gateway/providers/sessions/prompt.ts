import {
  type Conversation,
  type Message,
  type Part,
  usesTools,
} from "../../../core/conversation/conversation.ts";
import { invalidRequest } from "../../../core/errors/gateway-error.ts";
import { describeCallingRules, describeTools, renderToolCalls } from "../../tools/instructions.ts";
import { type Attachment, AttachmentReader } from "../requests/attachments.ts";
import { joinParagraphList, joinParagraphs, renderTextFile } from "../requests/prompt-text.ts";
import { responseFormatInstructions } from "../requests/response-format.ts";
import { heading, joinSections, type Section, withoutHeadings } from "./sections.ts";

/** An attachment that is sent beside the prompt. */
export type SentAttachment = Exclude<Attachment, { kind: "text" }>;

/** A conversation rendered as sections, in the same order. */
export interface Transcript {
  /** Rules for the format of the answer and its continuation. Blank: none. */
  readonly answerRules: string;
  /** The tools in use, with their schemas. Blank: no tools. */
  readonly tools: string;
  /** The rules for calling tools. Blank: no tools. */
  readonly toolRules: string;
  readonly toolNames: readonly string[];
  readonly sections: readonly Section[];
  /** Position in `sections` of the last user message; -1: none. */
  readonly lastUser: number;
  /** Whether the last section is the start of the answer, which the model must continue. */
  readonly prefilled: boolean;
  /** In the order of their numbers in the text, which start at 1. */
  readonly attachments: readonly SentAttachment[];
}

/**
 * Renders a conversation as text for a provider that accepts a single prompt. Drops nothing that the caller sent:
 * system messages keep their position; headings contain names, call ids of results and error marks; returned
 * reasoning precedes the text that it led to.
 *
 * @param injection Appended to the last user message when the model thinks. Null: nothing.
 * @throws GatewayError 400 for an attachment that the model does not support.
 */
export function renderTranscript(conversation: Conversation, injection: string | null): Transcript {
  const { messages, tools, toolChoice, parallelToolCalls: parallel } = conversation;
  const inUse = usesTools(conversation);
  const renderer = new MessageRenderer(conversation);
  const sections = messages.map((message) => renderer.render(message));
  const lastUser = messages.findLastIndex((message) => message.role === "user");
  const lastUserSection = sections[lastUser];
  if (conversation.thinking && injection !== null && injection !== "" && lastUserSection !== undefined) {
    sections[lastUser] = { ...lastUserSection, text: joinParagraphs(lastUserSection.text, injection) };
  }
  const last = messages.at(-1);
  const prefilled =
    last?.role === "assistant" && last.toolCalls.length === 0 && sections.at(-1)?.text.trim() !== "";
  return {
    answerRules: joinParagraphs(
      responseFormatInstructions(conversation.responseFormat) ?? "",
      prefilled
        ? "The last section below is the beginning of your answer. Continue exactly where it ends, without repeating it."
        : "",
    ),
    tools: inUse ? withoutHeadings(describeTools(tools)) : "",
    toolRules: inUse ? withoutHeadings(describeCallingRules(tools, toolChoice, { parallel })) : "",
    toolNames: inUse ? tools.map((tool) => tool.name) : [],
    sections,
    lastUser,
    prefilled,
    attachments: renderer.attachments,
  };
}

/**
 * Composes the prompt of a transcript. It ends with the heading of the answer, so that the model does not write a
 * heading itself.
 *
 * @param suffix The text of a follow-up turn. Blank: nothing. It is placed last, but before a prefilled answer.
 */
export function composePrompt(transcript: Transcript, suffix: string): string {
  const { tools, toolRules, answerRules } = transcript;
  const rules = joinParagraphs(tools, toolRules, answerRules);
  return composeSections(withRules(transcript.sections, rules), transcript.prefilled, suffix);
}

/** Joins sections into a prompt. See {@link composePrompt}. */
export function composeSections(sections: readonly Section[], prefilled: boolean, suffix: string): string {
  const added = suffix.trim() === "" ? [] : [{ heading: "System", text: suffix.trim() }];
  const last = prefilled ? sections.slice(-1) : [{ heading: "Assistant", text: "" }];
  return `${joinSections([...(prefilled ? sections.slice(0, -1) : sections), ...added, ...last])}${prefilled ? "" : "\n"}`;
}

/** Adds rules to the system message at the start, or inserts one. */
export function withRules(sections: readonly Section[], rules: string): readonly Section[] {
  if (rules === "") return sections;
  const [first, ...otherSections] = sections;
  if (first?.heading === "System")
    return [{ ...first, text: joinParagraphs(first.text, rules) }, ...otherSections];
  return [{ heading: "System", text: rules }, ...sections];
}

class MessageRenderer {
  readonly attachments: SentAttachment[] = [];
  /** The attachments' numbers, from 1. */
  readonly #numbers = new Map<SentAttachment, number>();
  readonly #reader: AttachmentReader;
  readonly #conversation: Conversation;
  /** Tool names by call id: in most API styles a result names only its call. */
  readonly #callNames = new Map<string, string>();

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
    this.#reader = new AttachmentReader(conversation);
  }

  render(message: Message): Section {
    const text = this.#parts(message.parts);
    switch (message.role) {
      case "system":
        return { heading: "System", text };
      case "user":
        return { heading: heading("User", message.name), text };
      case "tool":
        return {
          heading: heading(
            "Tool result",
            message.callId,
            message.name ?? this.#callNames.get(message.callId),
            message.isError ? "error" : "",
          ),
          text,
        };
      case "assistant": {
        const { reasoning, toolCalls } = message;
        for (const call of toolCalls) this.#callNames.set(call.id, call.name);
        const thought = reasoning?.trim() ? `<think>\n${withoutHeadings(reasoning)}\n</think>` : "";
        const calls = withoutHeadings(renderToolCalls(toolCalls));
        return { heading: "Assistant", text: joinParagraphs(thought, text, calls) };
      }
    }
  }

  #parts(parts: readonly Part[]): string {
    return joinParagraphList(parts.map((part) => this.#part(part)));
  }

  #part(part: Part): string {
    if (part.type === "text") return withoutHeadings(part.text);
    const attachment = this.#reader.read(part);
    const name = attachment.filename.replace(/[\r\n\]]+/g, " ");
    if (attachment.kind === "text") {
      return renderTextFile(name, withoutHeadings(attachment.text));
    }
    if (attachment.kind === "image") this.#checkVision();
    const number = this.#numbers.get(attachment) ?? this.attachments.push(attachment);
    this.#numbers.set(attachment, number);
    return `[Attachment ${number}: ${attachment.kind} ${name}]`;
  }

  #checkVision(): void {
    const { contentField: field, model } = this.#conversation;
    if (model.vision) return;
    throw invalidRequest(
      `${field} contains an image, but the model ${JSON.stringify(model.requested)} has no vision`,
      field,
    );
  }
}
