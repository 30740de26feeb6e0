import { type Conversation, joinText } from "./conversation.ts";

/** The text of a conversation without the formatting of a provider, and without its attachments. */
export function toPlainText(conversation: Conversation): string {
  const lines = conversation.tools.map((tool) => JSON.stringify(tool));
  for (const message of conversation.messages) {
    lines.push(joinText(message.parts));
    if (message.role === "assistant") {
      if (message.reasoning !== undefined) lines.push(message.reasoning);
      for (const call of message.toolCalls) lines.push(`${call.name} ${call.arguments}`);
    }
  }
  return lines.join("\n");
}
