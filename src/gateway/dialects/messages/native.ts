import { isObject } from "../../../core/encoding/json.ts";
import { getMemberText, setMember } from "../../../core/encoding/json-splice.ts";
import type { NativeDialect } from "../shared/native-request.ts";
import { BETA_HEADERS, DIALECT_ID, VERSION_HEADERS } from "./names.ts";
import { removeOwnSearches } from "./own-searches.ts";

/** `max_tokens` of a request that has none (docs/contract/generations.md, POST /vendorb/v1/messages). */
const DEFAULT_MAX_TOKENS = 8192;

/**
 * Messages for providers that speak this style. Beta values go along whole:
 * the provider knows them, the gateway does not.
 */
export const nativeMessages: NativeDialect = {
  id: DIALECT_ID,
  contentMember: "messages",
  modelPaths: [["message", "model"], ["model"]],
  namesModelOnce: true,
  echoedModel: ({ requested }) => requested,
  otherModelMembers: ["models", "fallbacks", "route", "preset"],
  reasoningMembers: [["thinking"]],
  maxTokensMembers: [["max_tokens"]],
  requestHeaders: ["anthropic-", "x-claude-code-", "x-app"],
  headerAliases: { [VERSION_HEADERS[0]]: VERSION_HEADERS[1], [BETA_HEADERS[0]]: BETA_HEADERS[1] },
  queryParameters: ["beta"],
  answerHeaders: ["anthropic-"],
  canContinueStream: false,
  listAccountStates: ({ container }) => [isObject(container) ? container["id"] : container],
  adapt: (received) => {
    const text = removeOwnSearches(received);
    const stated = getMemberText(text, ["max_tokens"]);
    const isMissing = stated === null || stated === "null";
    return { text: isMissing ? setMember(text, "max_tokens", String(DEFAULT_MAX_TOKENS)) : text };
  },
};
