import { chatCompletions } from "./chat-completions.ts";
import { contentGeneration } from "./content-generation.ts";
import type { Dialect } from "./dialect.ts";
import { messages } from "./messages.ts";
import { responses } from "./responses.ts";

/** The four API styles, in the order in which they are offered. */
export const DIALECTS = [chatCompletions, responses, messages, contentGeneration] as const;

/** The dialect of an id; the first for an unknown one. */
export function dialectOf(id: string): Dialect {
  return DIALECTS.find((dialect) => dialect.id === id) ?? chatCompletions;
}
