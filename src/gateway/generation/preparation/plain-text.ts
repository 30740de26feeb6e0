import { type Conversation, joinText } from "../../../core/conversation/conversation.ts";

/** The text of a conversation without the formatting of a provider. */
export function toPlainText(conversation: Conversation): string {
  const lines = conversation.tools.map((tool) => JSON.stringify(tool));
  for (const message of conversation.messages) {
    lines.push(joinText(message.parts));
    if (message.role === "assistant") {
      for (const call of message.toolCalls) lines.push(`${call.name} ${call.arguments}`);
    }
  }
  return lines.join("\n");
}
