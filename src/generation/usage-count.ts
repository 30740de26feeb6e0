import type { Usage } from "../conversation/events.ts";
import { estimateTokens } from "../conversation/tokens.ts";
import type { ProviderUsage } from "../provider/provider.ts";

/** What a generation's answer came to, as the upstream wrote it. */
export interface RawAnswer {
  readonly rawText: string;
  readonly rawReasoning: string;
}

/** Counts the tokens of one generation over all of its upstream turns. */
export class UsageCount {
  #part: ProviderUsage | null = null;
  /** What was stated of each part of the generation. */
  readonly #parts: ProviderUsage[] = [];

  /** The upstream states counts of the present part; later ones are the better ones. */
  take(usage: ProviderUsage): void {
    this.#part = { ...this.#part, ...usage };
  }

  /** The present part is over. */
  endPart(): void {
    const usage = this.#part;
    this.#part = null;
    if (usage !== null) this.#parts.push(usage);
  }

  /**
   * The generation's token counts: as the upstream stated them, summed over its turns (the prompt counts once), or
   * estimated where it did not. `promptText` is what the model read.
   */
  total(promptText: string, { rawText, rawReasoning }: RawAnswer): Usage {
    const stated = this.#parts.filter(
      ({ prompt, completion }) => prompt !== undefined || completion !== undefined,
    );
    if (stated.length === 0) {
      const reasoning = estimateTokens(rawReasoning);
      return {
        prompt: estimateTokens(promptText),
        completion: estimateTokens(rawText) + reasoning,
        reasoning,
      };
    }
    let asked: ProviderUsage = {};
    let completion = 0;
    let reasoning = 0;
    for (const part of stated) {
      if ((part.prompt ?? 0) >= (asked.prompt ?? 0)) asked = part;
      completion += part.completion ?? 0;
      reasoning += part.reasoning ?? 0;
    }
    const { cached, cacheWritten } = asked;
    return {
      prompt: asked.prompt || estimateTokens(promptText),
      completion,
      reasoning,
      ...(cached === undefined ? {} : { cached }),
      ...(cacheWritten === undefined ? {} : { cacheWritten }),
    };
  }

  /**
   * The same in the middle of a turn that will not end: what the upstream has stated of it by then, and at least what its
   * words come to.
   */
  soFar(promptText: string, answer: RawAnswer): Usage {
    this.endPart();
    const usage = this.total(promptText, answer);
    const thought = estimateTokens(answer.rawReasoning);
    const said = estimateTokens(answer.rawText) + thought;
    const { completion, reasoning } = usage;
    return {
      ...usage,
      completion: Math.max(completion, said),
      reasoning: Math.max(reasoning, thought),
    };
  }
}
