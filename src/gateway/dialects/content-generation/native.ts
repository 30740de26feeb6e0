import type { NativeDialect } from "../shared/native-request.ts";
import { DIALECT_ID } from "./names.ts";

/** The paths of a member of the generation's configuration. The protocol takes each name in both spellings. */
const inBothSpellings = (...names: readonly string[]): readonly (readonly string[])[] =>
  ["generationConfig", "generation_config"].flatMap((config) => names.map((name) => [config, name]));

/** Requests for content, for providers that speak this style. */
export const nativeContent: NativeDialect = {
  id: DIALECT_ID,
  isModelInPath: true,
  contentMember: "contents",
  modelPaths: [["modelVersion"]],
  // Google's SDK finds a late error only in a chunk of its own.
  keepsChunks: true,
  echoedModel: ({ id }) => id,
  otherModelMembers: [],
  reasoningMembers: inBothSpellings("thinkingConfig", "thinking_config"),
  maxTokensMembers: inBothSpellings("maxOutputTokens", "max_output_tokens"),
  requestHeaders: ["x-goog-api-client", "x-server-timeout"],
  answerHeaders: ["x-goog-"],
  canContinueStream: false,
  listAccountStates: (body) => [body["cachedContent"], body["cached_content"]],
};
