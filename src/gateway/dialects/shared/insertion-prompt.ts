import type { Part } from "../../../core/conversation/conversation.ts";

const INSERT_INSTRUCTION =
  "Write what stands between the user's text and the text below. Write that alone, with white space at its ends where " +
  "it needs some: do not repeat either text, comment on them or address the user.";

/** Builds the system message that asks the model for the text between the user's text and `suffix`. */
export function buildInsertionInstructions(suffix: string): Part[] {
  return [
    { type: "text", text: INSERT_INSTRUCTION },
    { type: "text", text: suffix },
  ];
}
