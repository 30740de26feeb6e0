import type { Conversation } from "../../src/core/conversation/conversation.ts";
import { resolveModel } from "../../src/gateway/models/resolve-model.ts";

/** Changes to the default conversation of tests; `model` is a model name. */
export type ConversationChanges = Partial<Omit<Conversation, "model">> & { readonly model?: string };

/** A streamed conversation without thinking, with one user message. Default model: `provider-v4-flash`. */
export function conversation({ model, ...changes }: ConversationChanges = {}): Conversation {
  return {
    dialect: "chat-completions",
    contentField: "messages",
    messages: [{ role: "user", parts: [{ type: "text", text: "Hello" }] }],
    tools: [],
    toolChoice: { type: "auto" },
    parallelToolCalls: true,
    thinking: false,
    showReasoning: false,
    options: {},
    responseFormat: { type: "text" },
    stream: true,
    ...changes,
    model: resolveModel(model ?? "provider-v4-flash", {}),
  };
}

/** The same with visible thinking. */
export function thinkingConversation(changes: ConversationChanges = {}): Conversation {
  return conversation({ thinking: true, showReasoning: true, ...changes });
}
