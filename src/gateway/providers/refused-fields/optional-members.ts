import { anyPattern, fieldRejectionPattern, unavailablePattern } from "./rejection-patterns.ts";

/** A member of requests that influences or labels the answer: without it, the answer is still valid. */
export interface OptionalMember {
  /** Where it stands in a request, written with dots. It passes through lists. */
  readonly path: string;
  /** Matches a rejection that names the member. */
  readonly rejectionPattern: RegExp;
  /** Matches a rejection if the gateway wrote the request. Then every mention of the member is enough. Default: as above. */
  readonly translatedPattern?: RegExp;
  /** The newer name, which some models demand. The value moves there. */
  readonly newName?: string;
  /** Only the gateway writes the member into translated requests, so its absence there is not reported. */
  readonly isGatewayChoice?: true;
  /** The path whose requests the row applies to. Default: both. */
  readonly onlyOn?: "native" | "translated";
}

/** @param words how a rejection names the member, a regular expression; default: the last name of the path */
function optionalMember(path: string, words?: string): OptionalMember {
  const name = path.slice(path.lastIndexOf(".") + 1);
  return { path, rejectionPattern: fieldRejectionPattern(words ?? name) };
}

/**
 * The members that a backend may refuse, for all protocols and for both paths: native and translated. A row applies to
 * every request that has the member. Members that shape the answer, such as log probabilities, are not in the table: the
 * caller gets the rejection.
 */
export const OPTIONAL_MEMBERS: readonly OptionalMember[] = [
  // Sampling. Reasoning models of some vendors accept only the default.
  ...["temperature", "top_p", "top_k"].map((path) => ({
    path,
    rejectionPattern: anyPattern(fieldRejectionPattern(path), unavailablePattern(path)),
  })),
  ...["min_p", "presence_penalty", "frequency_penalty", "repetition_penalty", "logit_bias", "seed"].map(
    (path) => optionalMember(path),
  ),
  optionalMember("generationConfig.topK", "top_?[kK]"),
  // Gemini's refusal does not say which of the two penalties it means.
  optionalMember("generationConfig.presencePenalty", "(?:presence[ _]?)?penalt(?:y|ies)"),
  optionalMember("generationConfig.frequencyPenalty", "(?:frequency[ _]?)?penalt(?:y|ies)"),
  optionalMember("generationConfig.seed"),

  // Labels, caches and priorities.
  ...["user", "safety_identifier", "client_metadata", "labels", "prompt_cache_key"].map((path) =>
    optionalMember(path),
  ),
  optionalMember("metadata", "metadata(?:\\.user_id)?"),
  ...["prompt_cache_retention", "service_tier", "serviceTier", "speed"].map((path) => optionalMember(path)),
  { ...optionalMember("store"), isGatewayChoice: true },

  // The form of the answer and the way to it.
  ...["verbosity", "prediction", "truncation", "max_tool_calls"].map((path) => optionalMember(path)),
  optionalMember("text.verbosity", "(?:text\\.)?verbosity"),
  // A model that does not search answers from its own knowledge.
  optionalMember("web_search_options", "web[ _]search\\w*"),
  // A translated request needs some of its entries.
  { ...optionalMember("include"), onlyOn: "native" },
  optionalMember("parallel_tool_calls"),
  {
    ...optionalMember("tools.function.strict", "(?:tools\\[\\d+\\]\\.function\\.)?strict"),
    onlyOn: "translated",
  },
  { ...optionalMember("tools.strict", "(?:tools\\[\\d+\\]\\.)?strict"), onlyOn: "translated" },
  { ...optionalMember("stream_options"), translatedPattern: /stream_options/, isGatewayChoice: true },
  {
    ...optionalMember("chat_template_kwargs"),
    translatedPattern: /chat_template_kwargs/,
    isGatewayChoice: true,
  },

  // Newer models of some vendors accept only the new name of this limit.
  { path: "max_tokens", newName: "max_completion_tokens", rejectionPattern: /max_completion_tokens/ },
];
