import type { Message, Part } from "../conversation/conversation.ts";
import { cutText } from "../storage/texts.ts";

/** Most characters of one text, and of all texts of a conversation together. */
const MAX_TEXT = 100_000;
const MAX_TOTAL = 400_000;

/** The characters that are left for a conversation's texts. */
class Budget {
  #left = MAX_TOTAL;

  text(text: string): string {
    const kept = cutText(text, Math.min(MAX_TEXT, this.#left));
    this.#left -= kept.length;
    const missing = text.length - kept.length;
    return missing === 0 ? kept : `${kept}… [${missing} characters left out]`;
  }
}

function partOf(part: Part, budget: Budget): unknown {
  if (part.type === "text") return { type: "text", text: budget.text(part.text) };
  const { source } = part;
  const named = part.type === "file" && part.filename !== undefined ? { filename: part.filename } : {};
  // Attachments are not archived, only their descriptions.
  switch (source.kind) {
    case "inline":
      return { type: part.type, ...named, media_type: source.mediaType, base64_length: source.data.length };
    case "url":
      return { type: part.type, ...named, url: budget.text(source.url) };
    case "file":
      return { type: part.type, ...named, file_id: source.fileId };
  }
}

function messageOf(message: Message, budget: Budget): unknown {
  const { role } = message;
  const parts = message.parts.map((part) => partOf(part, budget));
  switch (message.role) {
    case "assistant":
      return {
        role,
        ...(message.reasoning === undefined ? {} : { reasoning: budget.text(message.reasoning) }),
        parts,
        tool_calls: message.toolCalls.map(({ id, name, arguments: given }) => ({
          id,
          name,
          arguments: budget.text(given),
        })),
      };
    case "tool":
      return { role, call_id: message.callId, name: message.name, is_error: message.isError, parts };
    default:
      return { role, parts };
  }
}

/**
 * Serializes a conversation's messages as JSON text for the archive, at most about half a million characters. The newest
 * messages are stored whole while there is room. Attachments are described, not stored.
 */
export function archivedMessages(messages: readonly Message[]): string {
  const budget = new Budget();
  const kept = messages.toReversed().map((message) => messageOf(message, budget));
  return JSON.stringify(kept.reverse());
}
