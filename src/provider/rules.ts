import { type Conversation, usesTools } from "../conversation/conversation.ts";
import { toolInstructions } from "../tools/instructions.ts";
import { joined } from "./prose.ts";
import { responseFormatInstructions } from "./response-format.ts";

/**
 * What a model is told in words because the request has no field for it: how tools are called where they are written into
 * the prompt, and the answer's format. Empty: nothing.
 *
 * @param duty stands between them; empty unless given.
 */
export function rulesFor(conversation: Conversation, markup: boolean, duty = ""): string {
  const { tools, toolChoice, parallelToolCalls: parallel, responseFormat } = conversation;
  return joined([
    markup && usesTools(conversation) ? toolInstructions(tools, toolChoice, { parallel }) : "",
    duty,
    responseFormatInstructions(responseFormat) ?? "",
  ]);
}
