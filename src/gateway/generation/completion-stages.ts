import { CompletionFold } from "../../core/conversation/completion-fold.ts";
import type { Completion } from "../../core/conversation/events.ts";
import type { Generation } from "./generation.ts";
import type { GenerationJob } from "./generation-job.ts";

/** A step that processes a complete answer. */
export type CompletionStage = (
  completion: Completion,
  job: GenerationJob,
  generation: Generation,
) => Completion | Promise<Completion>;

/** Runs a generation to its end, and combines its events into one completion. */
export async function runToCompletion(generation: Generation): Promise<Completion> {
  let fold = new CompletionFold();
  await generation.run({
    delivery: "whole",
    deliver(events) {
      for (const event of events) fold.push(event);
      return undefined;
    },
    restart() {
      fold = new CompletionFold();
    },
  });
  return fold.completion();
}

/** Replaces citation markers by links to the search results, in the reasoning too (docs/contract.md, general rule 8). */
export const linkSources: CompletionStage = (given, { conversation }, { assembler }) => {
  const { texts, ...completion } = given;
  const { text, citations } = assembler.linkCitations(completion.text);
  const { text: reasoning } = assembler.linkCitations(completion.reasoning);
  const { sources } = completion;
  // Links and the format step change the text, so the offsets would be wrong.
  const isFormatted = conversation.responseFormat.type !== "text";
  const separated = texts === undefined || isFormatted || text !== completion.text ? {} : { texts };
  if (sources === undefined) return { ...completion, ...separated, text, reasoning };
  const allCitations = isFormatted ? [] : [...sources.citations, ...citations];
  return { ...completion, ...separated, text, reasoning, sources: { ...sources, citations: allCitations } };
};
