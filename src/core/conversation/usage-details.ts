import type { Writable } from "../writable.ts";
import type { Usage } from "./events.ts";

/** The counts of a usage. */
export const USAGE_COUNTS = [
  "prompt",
  "completion",
  "reasoning",
  "cached",
  "cacheWritten",
  "cacheWritten1h",
  "audioInput",
  "audioOutput",
  "imageInput",
  "imageOutput",
  "webSearches",
  "webFetches",
  "audioSeconds",
  "searchUnits",
] as const satisfies readonly (keyof Usage)[];

/** The sum of two usages. A count that neither states stays absent. */
export function addUsage(first: Usage, second: Usage): Usage {
  const sum: Writable<Usage> = { ...first };
  for (const name of USAGE_COUNTS) {
    const count = second[name];
    if (count !== undefined) sum[name] = (sum[name] ?? 0) + count;
  }
  return sum;
}

/**
 * The parts of a usage that have prices of their own or that reports list. 0: none, or the provider does not state it.
 * Tokens are parts of the prompt, except `audioOutputTokens` and `imageOutputTokens`, which are parts of the completion.
 */
export interface UsageDetails {
  readonly cachedTokens: number;
  /** Written to the provider's cache for five minutes, or for a time that the provider does not state. */
  readonly cacheWrite5mTokens: number;
  readonly cacheWrite1hTokens: number;
  readonly audioInputTokens: number;
  readonly audioOutputTokens: number;
  readonly imageInputTokens: number;
  readonly imageOutputTokens: number;
  /** Number of requests that the provider's own tools made. */
  readonly webSearches: number;
  readonly webFetches: number;
  /** Seconds of audio, and searches for rankings, where the provider counts these. */
  readonly audioSeconds: number;
  readonly searchUnits: number;
}

/** The details of a usage. */
export function toUsageDetails(usage: Usage): UsageDetails {
  const { cacheWritten = 0, cacheWritten1h = 0 } = usage;
  return {
    cachedTokens: usage.cached ?? 0,
    cacheWrite5mTokens: Math.max(0, cacheWritten - cacheWritten1h),
    cacheWrite1hTokens: cacheWritten1h,
    audioInputTokens: usage.audioInput ?? 0,
    audioOutputTokens: usage.audioOutput ?? 0,
    imageInputTokens: usage.imageInput ?? 0,
    imageOutputTokens: usage.imageOutput ?? 0,
    webSearches: usage.webSearches ?? 0,
    webFetches: usage.webFetches ?? 0,
    audioSeconds: usage.audioSeconds ?? 0,
    searchUnits: usage.searchUnits ?? 0,
  };
}

/** The details, in the order of lists. */
export const USAGE_DETAILS = [
  "cachedTokens",
  "cacheWrite5mTokens",
  "cacheWrite1hTokens",
  "audioInputTokens",
  "audioOutputTokens",
  "imageInputTokens",
  "imageOutputTokens",
  "webSearches",
  "webFetches",
  "audioSeconds",
  "searchUnits",
] as const satisfies readonly (keyof UsageDetails)[];

/** Adds the details of a usage to the facts of a request (`RequestFacts`), which state none that is 0. */
export function addUsageDetails(
  facts: { -readonly [Name in keyof UsageDetails]?: number },
  usage: Usage,
): void {
  const details = toUsageDetails(usage);
  for (const name of USAGE_DETAILS) {
    if (details[name] > 0) facts[name] = (facts[name] ?? 0) + details[name];
  }
}

/** Reads the details of a usage from the facts of a request. */
export function readUsageDetails(facts: Partial<UsageDetails>): UsageDetails {
  return {
    cachedTokens: facts.cachedTokens ?? 0,
    cacheWrite5mTokens: facts.cacheWrite5mTokens ?? 0,
    cacheWrite1hTokens: facts.cacheWrite1hTokens ?? 0,
    audioInputTokens: facts.audioInputTokens ?? 0,
    audioOutputTokens: facts.audioOutputTokens ?? 0,
    imageInputTokens: facts.imageInputTokens ?? 0,
    imageOutputTokens: facts.imageOutputTokens ?? 0,
    webSearches: facts.webSearches ?? 0,
    webFetches: facts.webFetches ?? 0,
    audioSeconds: facts.audioSeconds ?? 0,
    searchUnits: facts.searchUnits ?? 0,
  };
}
