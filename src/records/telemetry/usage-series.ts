import { USAGE_DETAILS, type UsageDetails } from "../../core/conversation/usage-details.ts";
import type { RequestFacts } from "../../core/ports/request-outcome.ts";
import { type Counts, formatSeriesName, type Labels } from "./counts.ts";
import { AUDIO_SECONDS, SEARCH_UNITS, SERVER_TOOL_REQUESTS, TOKEN_DETAILS } from "./metric-names.ts";

/** The metric of each detail of a usage, with the label that distinguishes it. */
const DETAILS: Readonly<Record<keyof UsageDetails | "reasoningTokens", readonly [metric: string, Labels]>> = {
  cachedTokens: [TOKEN_DETAILS, { type: "cache_read" }],
  cacheWrite5mTokens: [TOKEN_DETAILS, { type: "cache_write_5m" }],
  cacheWrite1hTokens: [TOKEN_DETAILS, { type: "cache_write_1h" }],
  audioInputTokens: [TOKEN_DETAILS, { type: "audio_input" }],
  audioOutputTokens: [TOKEN_DETAILS, { type: "audio_output" }],
  imageInputTokens: [TOKEN_DETAILS, { type: "image_input" }],
  imageOutputTokens: [TOKEN_DETAILS, { type: "image_output" }],
  reasoningTokens: [TOKEN_DETAILS, { type: "reasoning" }],
  webSearches: [SERVER_TOOL_REQUESTS, { tool: "web_search" }],
  webFetches: [SERVER_TOOL_REQUESTS, { tool: "web_fetch" }],
  audioSeconds: [AUDIO_SECONDS, {}],
  searchUnits: [SEARCH_UNITS, {}],
};

const NAMES = ["reasoningTokens", ...USAGE_DETAILS] as const;

/** Counts the details of a generation's usage. */
export function countUsageDetails(
  counts: Counts,
  provider: string,
  model: string,
  facts: RequestFacts,
): void {
  for (const name of NAMES) {
    const count = facts[name] ?? 0;
    if (count === 0) continue;
    const [metric, label] = DETAILS[name];
    const labels = { gen_ai_provider_name: provider, gen_ai_request_model: model, ...label };
    counts.add(formatSeriesName(metric, labels), count);
  }
}
