import type { Parameters, PlaygroundTurn, Tool } from "../../../gateway/dialects/playground/types.ts";

/** The conversation with which the playground starts. */
export interface InitialConversation {
  readonly dialect: string;
  readonly model: string;
  readonly stream: boolean;
  readonly system: string;
  readonly turns: readonly PlaygroundTurn[];
  readonly tools: readonly Tool[];
  readonly parameters: Parameters;
  /** Whether the playground sends it at once. */
  readonly isSent: boolean;
}

let initialConversation: InitialConversation | null = null;

/** Sets the conversation for the next time the playground opens. */
export function setInitialConversation(conversation: InitialConversation): void {
  initialConversation = conversation;
}

/** Returns the initial conversation and clears it; null: none. */
export function takeInitialConversation(): InitialConversation | null {
  const conversation = initialConversation;
  initialConversation = null;
  return conversation;
}
