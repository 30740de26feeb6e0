import type { Usage } from "../../../core/conversation/events.ts";
import { estimateTokens, maxPlausibleTokens } from "../../../core/conversation/tokens.ts";
import type { Writable } from "../../../core/writable.ts";
import type { ProviderUsage } from "../../providers/answers/provider-events.ts";

/** A generation's complete answer, as the upstream wrote it. */
interface RawAnswer {
  readonly rawText: string;
  readonly rawReasoning: string;
  /** Names and arguments of the calls that the provider's protocol states apart from the text. */
  readonly rawCalls?: string;
  /** Estimated tokens of the answer's further choices. */
  readonly otherChoiceTokens?: number;
}

/** Counts the tokens of one generation over all of its upstream turns. */
export class UsageCount {
  readonly #context: number | undefined;
  /** The counts of the current part, which is one upstream answer. Null: it has stated none yet. */
  #part: ProviderUsage | null = null;
  /** The counts that the upstream stated for each part of the generation. */
  readonly #parts: ProviderUsage[] = [];
  #hasImplausibleCount = false;

  /** @param context tokens that the model can read and write at once; undefined: unknown */
  constructor(context?: number) {
    this.#context = context;
  }

  /** Whether the upstream stated an implausibly large count, which an estimate replaced. */
  get hasImplausibleCount(): boolean {
    return this.#hasImplausibleCount;
  }

  /** Takes counts that the upstream states for the current part. Later counts replace earlier ones. */
  addStatedUsage(usage: ProviderUsage): void {
    this.#part = { ...this.#part, ...usage };
  }

  /** Ends the current part. */
  endPart(): void {
    const usage = this.#part;
    this.#part = null;
    if (usage !== null) this.#parts.push(usage);
  }

  /**
   * The generation's token counts: those that the upstream stated, summed over its turns (the prompt counts once). Missing
   * counts, and counts above {@link maxPlausibleTokens}, are estimated. `promptText` is the text that the model read.
   */
  total(promptText: string, answer: RawAnswer): Usage {
    const { rawText, rawReasoning, rawCalls = "" } = answer;
    const maxTokens = maxPlausibleTokens(
      promptText.length + rawText.length + rawReasoning.length + rawCalls.length,
      this.#context,
    );
    const plausible = this.#parts.map((part) => this.#withoutImplausible(part, maxTokens));
    const reported = plausible.filter(
      ({ prompt, completion }) => prompt !== undefined || completion !== undefined,
    );
    let promptUsage: ProviderUsage = {};
    let completion = 0;
    let reasoning = 0;
    for (const part of reported) {
      if ((part.prompt ?? -1) >= (promptUsage.prompt ?? -1)) promptUsage = part;
      completion += part.completion ?? 0;
      reasoning += part.reasoning ?? 0;
    }
    const audioOutput = sumStated(plausible, "audioOutput");
    const imageOutput = sumStated(plausible, "imageOutput");
    const webSearches = sumStated(plausible, "webSearches");
    const webFetches = sumStated(plausible, "webFetches");
    if (reported.length === 0 || reported.some((part) => part.completion === undefined)) {
      const estimate = estimateAnswer(answer);
      completion = Math.max(completion, estimate.completion);
      reasoning = Math.max(reasoning, estimate.reasoning);
    }
    const prompt = promptUsage.prompt ?? estimateTokens(promptText);
    const { cached, cacheWritten, cacheWritten1h, audioInput, imageInput } = promptUsage;
    const read = Math.min(cached ?? 0, prompt);
    const written = Math.min(cacheWritten ?? 0, prompt - read);
    const usage: Writable<Usage> = { prompt, completion, reasoning: Math.min(reasoning, completion) };
    if (cached !== undefined) usage.cached = read;
    if (cacheWritten !== undefined) usage.cacheWritten = written;
    if (cacheWritten1h !== undefined) usage.cacheWritten1h = Math.min(cacheWritten1h, written);
    if (audioInput !== undefined) usage.audioInput = Math.min(audioInput, prompt);
    if (audioOutput !== undefined) usage.audioOutput = Math.min(audioOutput, completion);
    if (imageInput !== undefined) usage.imageInput = Math.min(imageInput, prompt);
    if (imageOutput !== undefined) usage.imageOutput = Math.min(imageOutput, completion);
    if (webSearches !== undefined) usage.webSearches = webSearches;
    if (webFetches !== undefined) usage.webFetches = webFetches;
    return usage;
  }

  /** Drops implausibly large counts. */
  #withoutImplausible(part: ProviderUsage, maxTokens: number): ProviderUsage {
    if (!Object.values(part).some((count) => count > maxTokens)) return part;
    this.#hasImplausibleCount = true;
    return Object.fromEntries(Object.entries(part).filter(([, count]) => count <= maxTokens));
  }

  /**
   * The token counts of an interrupted generation: the counts that the upstream has stated so far, but at least the
   * estimate of the output.
   */
  estimateSoFar(promptText: string, answer: RawAnswer): Usage {
    this.endPart();
    const usage = this.total(promptText, answer);
    const estimate = estimateAnswer(answer);
    return {
      ...usage,
      completion: Math.max(usage.completion, estimate.completion),
      reasoning: Math.max(usage.reasoning, estimate.reasoning),
    };
  }
}

function estimateAnswer({ rawText, rawReasoning, rawCalls = "", otherChoiceTokens = 0 }: RawAnswer) {
  const reasoning = estimateTokens(rawReasoning);
  const completion = estimateTokens(rawText) + reasoning + estimateTokens(rawCalls) + otherChoiceTokens;
  return { completion, reasoning };
}

/** The sum of a count over all parts. Undefined: no part states it. */
function sumStated(parts: readonly ProviderUsage[], name: keyof ProviderUsage): number | undefined {
  let sum: number | undefined;
  for (const { [name]: count } of parts) if (count !== undefined) sum = (sum ?? 0) + count;
  return sum;
}
