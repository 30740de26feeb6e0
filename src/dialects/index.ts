import { chatCompletions } from "./chat-completions/dialect.ts";
import { completions } from "./completions/dialect.ts";
import { contentGeneration } from "./content-generation/dialect.ts";
import type { Dialect } from "./dialect.ts";
import { messages } from "./messages/dialect.ts";
import { modelRunner } from "./model-runner/dialect.ts";
import { responses } from "./responses/dialect.ts";

/** The styles in which callers may speak, in the order in which people are offered them. */
export const DIALECTS: readonly Dialect[] = [
  chatCompletions,
  responses,
  messages,
  contentGeneration,
  modelRunner,
  completions,
];
