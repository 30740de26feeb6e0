import { nativeChatCompletions } from "../chat-completions/native.ts";
import type { NativeDialect } from "../shared/native-request.ts";
import { DIALECT_ID } from "./names.ts";

/** Text completions for providers that speak this style. Headers and limits are those of chat completions. */
export const nativeCompletions: NativeDialect = {
  ...nativeChatCompletions,
  id: DIALECT_ID,
  contentMember: "prompt",
  reasoningMembers: [],
  maxTokensMembers: [["max_tokens"]],
  canContinueStream: false,
  listAccountStates: () => [],
};
