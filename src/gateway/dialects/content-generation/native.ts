import type { NativeDialect } from "../shared/native-request.ts";
import { DIALECT_ID } from "./names.ts";

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
  // The protocol takes each name in both spellings.
  reasoningMembers: ["generationConfig", "generation_config"].flatMap((config) =>
    ["thinkingConfig", "thinking_config"].map((name) => [config, name]),
  ),
  maxTokensMembers: ["generationConfig", "generation_config"].flatMap((config) =>
    ["maxOutputTokens", "max_output_tokens"].map((name) => [config, name]),
  ),
  requestHeaders: ["x-goog-api-client", "x-server-timeout"],
  answerHeaders: ["x-goog-"],
  canContinueStream: false,
  listAccountStates: (body) => [body["cachedContent"], body["cached_content"]],
};
