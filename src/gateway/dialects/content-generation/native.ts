import type { NativeDialect } from "../shared/native-request.ts";
import { DIALECT_ID } from "./names.ts";

/** Requests for content, for providers that speak this style. */
export const nativeContent: NativeDialect = {
  id: DIALECT_ID,
  contentMember: "contents",
  modelPaths: [["modelVersion"]],
  // Google's SDK finds a late error only in a chunk of its own.
  keepsChunks: true,
  echoedModel: ({ id }) => id,
  otherModelMembers: [],
  reasoningMembers: [
    ["generationConfig", "thinkingConfig"],
    ["generation_config", "thinking_config"],
  ],
  maxTokensMembers: [
    ["generationConfig", "maxOutputTokens"],
    ["generation_config", "max_output_tokens"],
  ],
  requestHeaders: ["x-goog-api-client", "x-server-timeout"],
  answerHeaders: ["x-goog-"],
  canContinueStream: false,
  listAccountStates: (body) => [body["cachedContent"], body["cached_content"]],
};
