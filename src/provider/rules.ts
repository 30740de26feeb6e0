import { type Conversation, usesTools } from "../conversation/conversation.ts";
import { toolInstructions } from "../tools/instructions.ts";
import { joined } from "./prose.ts";
import { responseFormatInstructions } from "./response-format.ts";

/**
 * Renders the prompt instructions for what the request has no field for: tool calls (if tools are written into the
 * prompt) and the answer's format. Empty: no instructions.
 *
 * @param duty placed between both; empty by default.
 */
export function rulesFor(conversation: Conversation, markup: boolean, duty = ""): string {
  const { tools, toolChoice, parallelToolCalls: parallel, responseFormat } = conversation;
  return joined([
    markup && usesTools(conversation) ? toolInstructions(tools, toolChoice, { parallel }) : "",
    duty,
    responseFormatInstructions(responseFormat) ?? "",
  ]);
}
