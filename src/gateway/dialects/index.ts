import { chatCompletions } from "./chat-completions/dialect.ts";
import { completions } from "./completions/dialect.ts";
import { contentGeneration } from "./content-generation/dialect.ts";
import type { Dialect } from "./dialect.ts";
import { messages } from "./messages/dialect.ts";
import { modelRunner } from "./model-runner/dialect.ts";
import { responses } from "./responses/dialect.ts";

/** All API styles, in the order in which the user interface lists them. */
export const DIALECTS: readonly Dialect[] = [
  chatCompletions,
  responses,
  messages,
  contentGeneration,
  modelRunner,
  completions,
];
