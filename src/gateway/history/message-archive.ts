import type { Message, Part } from "../../core/conversation/conversation.ts";
import { truncateText } from "../../core/encoding/text-slices.ts";

/** Most characters of one text, and of all texts of a conversation together. */
const MAX_TEXT = 100_000;
const MAX_TOTAL = 400_000;

/** The characters that are left for a conversation's texts. */
class TextBudget {
  #remainingCharacters = MAX_TOTAL;
  readonly #redact: (text: string) => string;

  constructor(redact: (text: string) => string) {
    this.#redact = redact;
  }

  /** Redacts a name. Names are short, so they do not count towards the budget. */
  redactName(name: string): string {
    return this.#redact(name);
  }

  take(original: string): string {
    const text = this.#redact(original);
    const stored = truncateText(text, Math.min(MAX_TEXT, this.#remainingCharacters));
    this.#remainingCharacters -= stored.length;
    const missing = text.length - stored.length;
    return missing === 0 ? stored : `${stored}… [${missing} characters left out]`;
  }
}

function archivePart(part: Part, budget: TextBudget): unknown {
  if (part.type === "text") return { type: "text", text: budget.take(part.text) };
  const { source } = part;
  const named =
    part.type === "file" && part.filename !== undefined ? { filename: budget.redactName(part.filename) } : {};
  // Attachments are not archived, only their descriptions.
  switch (source.kind) {
    case "inline":
      return {
        type: part.type,
        ...named,
        media_type: budget.redactName(source.mediaType),
        base64_length: source.data.length,
      };
    case "url":
      return { type: part.type, ...named, url: budget.take(source.url) };
    case "file":
      return { type: part.type, ...named, file_id: budget.redactName(source.fileId) };
  }
}

function archiveMessage(message: Message, budget: TextBudget): unknown {
  const { role } = message;
  const parts = message.parts.map((part) => archivePart(part, budget));
  switch (message.role) {
    case "assistant":
      return {
        role,
        ...(message.reasoning === undefined ? {} : { reasoning: budget.take(message.reasoning) }),
        parts,
        tool_calls: message.toolCalls.map(({ id, name, arguments: argumentsText }) => ({
          id: budget.redactName(id),
          name: budget.redactName(name),
          arguments: budget.take(argumentsText),
        })),
      };
    case "tool":
      return {
        role,
        call_id: budget.redactName(message.callId),
        ...(message.name === undefined ? {} : { name: budget.redactName(message.name) }),
        is_error: message.isError,
        parts,
      };
    default:
      return { role, parts };
  }
}

/**
 * Serializes a conversation's messages as JSON text for the archive, at most about half a million characters. The newest
 * messages are stored whole while there is room. Attachments are described, not stored.
 *
 * @param redact replaces what must not be stored of a text
 */
export function serializeMessages(
  messages: readonly Message[],
  redact: (text: string) => string = (text) => text,
): string {
  const budget = new TextBudget(redact);
  const archived = messages.toReversed().map((message) => archiveMessage(message, budget));
  return JSON.stringify(archived.reverse());
}
