import type { Histogram } from "./counts.ts";

/**
 * The metrics that requests count, with their help texts. `exposition.ts` has those that are read when the metrics are
 * requested (keys, accounts, queue). Names of the `gen_ai` family follow OpenTelemetry's conventions.
 */
export const METRICS = {
  polygate_http_requests_total: "HTTP requests by route, method and status.",
  polygate_generations_total: "Generations by dialect, model, status of the answer and error.",
  polygate_cache_requests_total:
    "Requests for which the response cache is on, by result: hit (the answer came from it) or miss.",
  polygate_generation_retries_total:
    "Further attempts within generations: follow-up turns and changes of account.",
  polygate_upstream_requests_total: "Requests to the provider by operation and status.",
  polygate_upstream_errors_total: "Attempts of generations at which the provider failed, by code.",
  polygate_group_requests_total: "Requests by team, user and tag.",
  polygate_group_tokens_total: "Tokens by team, user and tag.",
  polygate_page_requests_total: "Calls of the page service by operation and status.",
  polygate_queue_wait_seconds: "Time that generations waited for an account.",
  gen_ai_server_request_duration_seconds:
    "Duration of generations, from the request to the end of the answer.",
  gen_ai_server_time_to_first_token_seconds: "Time from a request to the first of its answer.",
  gen_ai_client_token_usage: "Tokens by kind, one observation for each generation.",
  polygate_token_details_total:
    "Parts of the tokens of generations: read from and written to the provider's cache, reasoning, audio, images.",
  polygate_server_tool_requests_total: "Requests that the provider's own tools made in generations.",
  polygate_audio_seconds_total: "Seconds of audio that providers counted.",
  polygate_search_units_total: "Searches that providers counted for rankings.",
} as const;

export const HTTP_REQUESTS = "polygate_http_requests_total";
export const GENERATIONS = "polygate_generations_total";
export const CACHE_REQUESTS = "polygate_cache_requests_total";
export const RETRIES = "polygate_generation_retries_total";
export const UPSTREAM_REQUESTS = "polygate_upstream_requests_total";
export const UPSTREAM_ERRORS = "polygate_upstream_errors_total";
export const TOKEN_DETAILS = "polygate_token_details_total";
export const SERVER_TOOL_REQUESTS = "polygate_server_tool_requests_total";
export const AUDIO_SECONDS = "polygate_audio_seconds_total";
export const SEARCH_UNITS = "polygate_search_units_total";
/** Read from the usage records, not counted separately. */
export const KEY_REQUESTS = "polygate_key_requests_total";
export const KEY_TOKENS = "polygate_key_tokens_total";
export const KEY_CACHED_TOKENS = "polygate_key_cached_tokens_total";
export const KEY_COST = "polygate_key_cost_total";
export const SUBJECT_REQUESTS = "polygate_group_requests_total";
export const SUBJECT_TOKENS = "polygate_group_tokens_total";
export const PAGE_REQUESTS = "polygate_page_requests_total";

/** In seconds. OpenTelemetry recommends these bounds for generations. */
const DURATION_BOUNDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];

export const QUEUE_WAIT: Histogram = { name: "polygate_queue_wait_seconds", bounds: DURATION_BOUNDS };
export const REQUEST_DURATION: Histogram = {
  name: "gen_ai_server_request_duration_seconds",
  bounds: DURATION_BOUNDS,
};
export const TIME_TO_FIRST_TOKEN: Histogram = {
  name: "gen_ai_server_time_to_first_token_seconds",
  bounds: [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
};
export const TOKEN_USAGE: Histogram = {
  name: "gen_ai_client_token_usage",
  bounds: [
    1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
  ],
};

export const HISTOGRAMS: ReadonlyMap<string, Histogram> = new Map(
  [QUEUE_WAIT, REQUEST_DURATION, TIME_TO_FIRST_TOKEN, TOKEN_USAGE].map((histogram) => [
    histogram.name,
    histogram,
  ]),
);
