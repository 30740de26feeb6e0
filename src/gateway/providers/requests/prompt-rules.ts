import { type Conversation, usesTools } from "../../../core/conversation/conversation.ts";
import { renderToolInstructions } from "../../tools/instructions.ts";
import { joinParagraphList } from "./prompt-text.ts";
import { responseFormatInstructions } from "./response-format.ts";

/**
 * Renders the prompt instructions for what the request has no field for: tool calls (if tools are written into the
 * prompt) and the answer's format. Empty: no instructions.
 *
 * @param duty placed between both; empty by default.
 */
export function renderPromptRules(conversation: Conversation, markup: boolean, duty = ""): string {
  const { tools, toolChoice, parallelToolCalls: parallel, responseFormat } = conversation;
  return joinParagraphList([
    markup && usesTools(conversation) ? renderToolInstructions(tools, toolChoice, { parallel }) : "",
    duty,
    responseFormatInstructions(responseFormat) ?? "",
  ]);
}
