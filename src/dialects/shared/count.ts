import { type Conversation, textOf } from "../../conversation/conversation.ts";
import { estimateTokens } from "../../conversation/tokens.ts";
import { GatewayError } from "../../errors/gateway-error.ts";
import { prepareOptions } from "../../generation/prepare-options.ts";
import { suited } from "../../generation/suit.ts";
import type { Context } from "../../platform/context.ts";
import { providerNamed } from "../../provider/of-platform.ts";

/** The words of a conversation without a provider's frame around them. */
function plainText(conversation: Conversation): string {
  const lines = conversation.tools.map((tool) => JSON.stringify(tool));
  for (const message of conversation.messages) {
    lines.push(textOf(message.parts));
    if (message.role === "assistant") {
      for (const call of message.toolCalls) lines.push(`${call.name} ${call.arguments}`);
    }
  }
  return lines.join("\n");
}

/**
 * Tokens that a conversation would cost as a prompt: messages, system and tools, counted on the very text that would be
 * sent. A conversation that the provider would refuse (a broken attachment) is counted by its words.
 */
export async function countPromptTokens(context: Context, conversation: Conversation): Promise<number> {
  const { config } = await context.config();
  const options = prepareOptions(config, conversation, context);
  try {
    const { api } = providerNamed(context.platform, config, conversation.model.provider);
    const prepared = api.prepare(suited(conversation, api.abilities), options);
    return Math.max(1, estimateTokens(prepared.promptText));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return Math.max(1, estimateTokens(plainText(conversation)));
  }
}
