import type { Completion } from "../conversation/events.ts";
import { CompletionFold } from "../conversation/fold.ts";
import type { Generation } from "./generation.ts";
import type { GenerationJob } from "./job.ts";

/** Something that is done to an answer once it is whole. */
export type CompletionStage = (
  completion: Completion,
  job: GenerationJob,
  generation: Generation,
) => Completion | Promise<Completion>;

/** Runs a generation to its end and folds its events. */
export async function runWhole(generation: Generation): Promise<Completion> {
  let fold = new CompletionFold();
  await generation.run({
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

/** Citation markers become links to the search results, in the reasoning too (contract, general rule 8). */
export const linkSources: CompletionStage = (completion, { conversation }, { assembler }) => {
  const { text, citations } = assembler.linkCitations(completion.text);
  const { text: reasoning } = assembler.linkCitations(completion.reasoning);
  const { sources } = completion;
  if (sources === undefined) return { ...completion, text, reasoning };
  // Of a text that is brought into a format the places would be wrong.
  const kept = conversation.responseFormat.type === "text" ? [...sources.citations, ...citations] : [];
  return { ...completion, text, reasoning, sources: { ...sources, citations: kept } };
};
