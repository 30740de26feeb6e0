import type { Conversation } from "../../../core/conversation/conversation.ts";
import { toPlainText } from "../../../core/conversation/plain-text.ts";
import { estimateTokens } from "../../../core/conversation/tokens.ts";
import { GatewayError } from "../../../core/errors/gateway-error.ts";
import type { Context } from "../../../core/ports/context.ts";
import { createPrepareOptions } from "../../generation/preparation/prepare-options.ts";
import { selectCapableModel } from "../../generation/routes/model-selection.ts";
import { getProvider } from "../../providers/provider-registry.ts";

/**
 * Counts the prompt tokens of a conversation: messages, system prompt and tools, in the exact text that the provider would
 * get. If the gateway rejects the conversation (a broken attachment), only its plain text is counted.
 */
export async function countPromptTokens(context: Context, conversation: Conversation): Promise<number> {
  const { config } = await context.config();
  const options = createPrepareOptions(config, conversation, context);
  try {
    const { api } = getProvider(context.platform, config, conversation.model.provider);
    const prepared = api.prepare(selectCapableModel(conversation, api.capabilities), options);
    return Math.max(1, estimateTokens(prepared.promptText));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return Math.max(1, estimateTokens(toPlainText(conversation)));
  }
}
